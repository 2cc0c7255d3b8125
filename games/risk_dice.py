"""The dice of Risk: what one throw takes, and who wins a battle that is fought to its end.

The attacker throws up to three dice, one troop stays behind; the defender up to two. The highest dice are compared, then the
second highest if both have one; each comparison costs the lower one a troop, a tie the attacker. The chances of a throw are
found by trying all dice.

A battle between `attackers` (without the one that stays behind) and `defenders`, fought until one side has no troops left, is a
Markov chain (Osborne 2003). `WINS` holds the chance that the attacker wins it, up to BATTLE troops a side; beyond, a side
counts as BATTLE. `NEEDED` says how many attackers are more likely than not to win against so many defenders; it is exact up to
LARGEST defenders, beyond it grows as an endless battle of three dice against two would have it: by the ratio of losses.
"""

from itertools import product

import numpy as np

from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_word

BATTLE = 64
LARGEST = 256


def _throws() -> dict[tuple[int, int], list[float]]:
    """For each number of dice of attacker and defender: the chance that the attacker loses 0, 1, 2 troops."""
    found = {}
    for attack, defence in product((1, 2, 3), (1, 2)):
        counts = [0, 0, 0]
        for dice in product(range(6), repeat=attack + defence):
            ours, theirs = sorted(dice[:attack], reverse=True), sorted(dice[attack:], reverse=True)
            counts[sum(mine <= other for mine, other in zip(ours, theirs, strict=False))] += 1
        found[attack, defence] = [count / 6 ** (attack + defence) for count in counts]
    return found


def battle_wins(most: int) -> np.ndarray:
    """The chance of `a` attackers to win a battle against `d` defenders, a table of floats [a, d] up to `most` troops a side.

    All battles with the same number of troops in total depend on smaller ones only, so they are computed together.
    """
    throws = _throws()
    wins = np.zeros((most + 1, most + 1))
    wins[1:, 0] = 1.0
    for total in range(2, 2 * most + 1):
        a = np.arange(max(1, total - most), min(most, total - 1) + 1)
        d = total - a
        for (attack, defence), chances in throws.items():
            here = (np.minimum(a, 3) == attack) & (np.minimum(d, 2) == defence)
            compared = min(attack, defence)
            for lost in range(compared + 1):
                wins[a[here], d[here]] += chances[lost] * wins[a[here] - lost, d[here] - (compared - lost)]
    return wins


def _needed(wins: np.ndarray) -> np.ndarray:
    """The fewest attackers that win with a chance above 1/2, for each number of defenders; more attackers never win less."""
    return np.array([int(np.argmax(wins[:, defenders] > 0.5)) for defenders in range(wins.shape[1])], np.int64)


def _limits() -> np.ndarray:
    """A random word above the first limit costs the attacker a troop, above the second another one."""
    table = np.full((4, 3, 2), (1 << 64) - 1, np.uint64)
    for (attack, defence), chances in _throws().items():
        for lost in range(min(attack, defence)):
            table[attack, defence, lost] = round(sum(chances[: lost + 1]) * 2**64) - 1
    return table.ravel()


def _chances() -> np.ndarray:
    table = np.zeros((4, 3, 3))
    for dice, chances in _throws().items():
        table[dice] = chances
    return table.ravel()


WINS = battle_wins(BATTLE)
NEEDED = _needed(battle_wins(LARGEST))
CHANCES = _chances()
LIMITS = _limits()
_3V2 = _throws()[3, 2]
LOSS_RATIO = (_3V2[1] + 2 * _3V2[2]) / (_3V2[1] + 2 * _3V2[0])  # troops lost by the attacker for each of the defender


@kernel
def throw_chance(attackers, defenders, lost):
    """How likely it is that the attacker loses so many troops."""
    return CHANCES[(3 * min(attackers, 3) + min(defenders, 2)) * 3 + lost]


@kernel
def throw_dice(attackers, defenders, rng):
    """How many troops the attacker loses in one throw."""
    place = (3 * min(attackers, 3) + min(defenders, 2)) * 2
    word = random_word(rng)
    return np.int64(word > LIMITS[place]) + np.int64(word > LIMITS[place + 1])


@kernel
def needed(defenders):
    """The fewest attackers that are more likely than not to win a battle."""
    if defenders <= LARGEST:
        return NEEDED[defenders]
    return NEEDED[LARGEST] + np.int64((defenders - LARGEST) * LOSS_RATIO + 0.5)


@kernel
def win_chance(attackers, defenders):
    return WINS[min(attackers, BATTLE), min(defenders, BATTLE)]
