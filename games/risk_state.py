"""A position of Risk in memory, and what every way of playing it has in common: the deal, the dice, the end of a turn.

State, in uint64 words, one a number: copying 50 words costs less than unpacking lanes in every battle would.

  0 to 41   troops of each territory, by its number on the map; 0 before it is dealt
  42, 43    the territories of player 0 and of player 1, a bit each
  44        PHASE: what is to be decided
  45        PLAYER: whose turn it is
  46        TURN: from 1; the players' turns are counted together
  47        LEFT: troops still to be recruited
  48        SOURCE: the active territory. In RECRUIT: where troops of this turn were placed before; in ATTACK: where they were
            placed, where the last attack came from, or the territory just conquered; later in an attack or a manoeuvre: its
            source. NOWHERE if there is none
  49        TARGET of an attack or a manoeuvre that is under way; NOWHERE if there is none

Every dealt territory holds at least one troop at any time: a conquered one gets its first troop at once, and MOVE_IN decides
how many follow.
"""

import numpy as np

from distmcts.kernels.bits import count_ones, lowest_one
from distmcts.kernels.jit import kernel
from distmcts.kernels.rng import random_below
from distmcts.kernels.rules import CHANCE, OVER
from games.risk_dice import throw_chance, throw_dice
from games.risk_map import TERRITORIES, WORLD, bit, nth, recruits

OWNED = TERRITORIES
PHASE = OWNED + 2
PLAYER = PHASE + 1
TURN = PHASE + 2
LEFT = PHASE + 3
SOURCE = PHASE + 4
TARGET = PHASE + 5
STATE_WORDS = PHASE + 6

# Phases. Those of chance come first, then those of the whole moves, then those that only the step-by-step moves know.
DEAL = np.uint64(0)
DICE = np.uint64(1)
FINISHED = np.uint64(2)
RECRUIT = np.uint64(3)
ATTACK = np.uint64(4)
MOVE_IN = np.uint64(5)
MANOEUVRE = np.uint64(6)
RECRUIT_NUMBER = np.uint64(7)
ATTACK_TARGET = np.uint64(8)
MANOEUVRE_TARGET = np.uint64(9)
MANOEUVRE_NUMBER = np.uint64(10)

NOWHERE = np.uint64(63)
ARMIES = 60  # of each player at the start
THIRD = 2 * (ARMIES % (TERRITORIES // 2))  # territories dealt so early get a third troop
_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)


@kernel
def troops(state, territory):
    return np.int64(state[territory])


@kernel
def army(state, territories):
    """All troops on a set of territories."""
    total = 0
    while territories != _0:
        total += troops(state, lowest_one(territories))
        territories &= territories - _1
    return total


@kernel
def own(state):
    """The territories of the player whose turn it is."""
    return state[OWNED + np.int64(state[PLAYER])]


@kernel
def other(state):
    """The territories of the player whose turn it is not."""
    return state[OWNED + 1 - np.int64(state[PLAYER])]


@kernel
def pick(territories, rng):
    """One of a set of territories, all equally likely, as a number; a single one costs no random number."""
    if territories & (territories - _1) == _0:
        return lowest_one(territories)
    return lowest_one(nth(territories, random_below(rng, count_ones(territories))))


@kernel
def begin_turn(state):
    state[PHASE] = RECRUIT
    state[LEFT] = np.uint64(recruits(own(state)))
    state[SOURCE] = NOWHERE
    state[TARGET] = NOWHERE


@kernel
def end_turn(game, state):
    """The other player's turn, or the end of a game that has gone on for too long."""
    if np.int64(state[TURN]) >= game.turns:
        finish(state)
        return
    state[TURN] += _1
    state[PLAYER] = _1 - state[PLAYER]
    begin_turn(state)


@kernel
def finish(state):
    state[PHASE] = FINISHED
    state[SOURCE] = NOWHERE
    state[TARGET] = NOWHERE


@kernel
def deal_out(state, territory):
    """Give the next territory to the player whose turn it is; armies go round in the order of the deal."""
    dealt = count_ones(state[OWNED] | state[OWNED + 1])
    state[OWNED + np.int64(state[PLAYER])] |= bit(territory)
    state[territory] = _3 if dealt < THIRD else _2
    state[PLAYER] = _1 - state[PLAYER]
    if dealt == TERRITORIES - 1:
        state[TURN] = _1
        begin_turn(state)


@kernel
def start_attack(state, source, target):
    state[PHASE] = DICE
    state[SOURCE] = np.uint64(source)
    state[TARGET] = np.uint64(target)


@kernel
def end_attack(state):
    state[PHASE] = MANOEUVRE
    state[SOURCE] = NOWHERE


@kernel
def move_in(state, followers):
    """Move troops into a conquered territory, besides the one that is there; it becomes the active one."""
    state[np.int64(state[SOURCE])] -= np.uint64(followers)
    state[np.int64(state[TARGET])] += np.uint64(followers)
    state[PHASE] = ATTACK
    state[SOURCE] = state[TARGET]
    state[TARGET] = NOWHERE


@kernel
def fight(state, lost):
    """One throw of dice that costs the attacker so many troops."""
    source = np.int64(state[SOURCE])
    target = np.int64(state[TARGET])
    compared = min(troops(state, source) - 1, troops(state, target), 2)
    state[source] -= np.uint64(lost)
    state[target] -= np.uint64(compared - lost)
    if state[target] != _0:
        state[PHASE] = ATTACK
        state[TARGET] = NOWHERE
        return
    mover = np.int64(state[PLAYER])
    state[OWNED + mover] |= bit(target)
    state[OWNED + 1 - mover] &= ~bit(target)
    state[source] -= _1
    state[target] = _1
    if state[OWNED + 1 - mover] == _0:
        finish(state)
    elif state[source] == _1:
        move_in(state, 0)
    else:
        state[PHASE] = MOVE_IN


@kernel
def move_troops(game, state, source, target, number):
    """A manoeuvre, which ends the turn."""
    state[source] -= np.uint64(number)
    state[target] += np.uint64(number)
    end_turn(game, state)


def initial(game, state):
    state[SOURCE] = NOWHERE
    state[TARGET] = NOWHERE


def player(game, state):
    phase = state[PHASE]
    if phase == FINISHED:
        return OVER
    if phase < FINISHED:
        return CHANCE
    return np.int64(state[PLAYER])


def returns(game, state, rewards):
    """Whoever holds the world has won; at the limit of turns, whoever holds more territories."""
    lead = count_ones(state[OWNED]) - count_ones(state[OWNED + 1])
    result = 1.0 if lead > 0 else (-1.0 if lead < 0 else 0.0)
    rewards[0] = result
    rewards[1] = -result


def chance_outcomes(game, state, moves, probabilities):
    """Of the deal: the territory that comes next. Of the dice: how many troops the attacker loses."""
    if state[PHASE] == DEAL:
        rest = WORLD & ~(state[OWNED] | state[OWNED + 1])
        count = count_ones(rest)
        for i in range(count):
            moves[i] = lowest_one(rest)
            probabilities[i] = 1.0 / count
            rest &= rest - _1
        return count
    attackers = troops(state, np.int64(state[SOURCE])) - 1
    defenders = troops(state, np.int64(state[TARGET]))
    count = min(attackers, defenders, 2) + 1
    for lost in range(count):
        moves[lost] = lost
        probabilities[lost] = throw_chance(attackers, defenders, lost)
    return count


def sample_outcome(game, state, rng):
    if state[PHASE] == DEAL:
        return pick(WORLD & ~(state[OWNED] | state[OWNED + 1]), rng)
    return throw_dice(troops(state, np.int64(state[SOURCE])) - 1, troops(state, np.int64(state[TARGET])), rng)
