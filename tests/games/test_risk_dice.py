"""Risk's dice: throws by enumeration, battles as fractions, and how often what is drawn comes."""

from fractions import Fraction

import numpy as np
import pytest

from distmcts.kernels import referee
from distmcts.kernels.rng import seeded
from games.risk_dice import BATTLE, LARGEST, NEEDED, WINS, battle_wins, needed, throw_chance, win_chance
from tests.games.risk_board import FULL, board
from tests.reference import risk as plain
from tests.reference.risk_policy import battle

KNOWN = {  # the attacker loses 0, 1, 2
    (3, 2): [Fraction(2890, 7776), Fraction(2611, 7776), Fraction(2275, 7776)],
    (2, 2): [Fraction(295, 1296), Fraction(420, 1296), Fraction(581, 1296)],
    (1, 2): [Fraction(55, 216), Fraction(161, 216)],
    (3, 1): [Fraction(855, 1296), Fraction(441, 1296)],
    (2, 1): [Fraction(125, 216), Fraction(91, 216)],
    (1, 1): [Fraction(15, 36), Fraction(21, 36)],
}
KINDS = pytest.mark.parametrize("attack, defence", KNOWN)


@KINDS
def test_throws(attack, defence):
    assert list(plain.throw(attack, defence).values()) == KNOWN[attack, defence]
    for lost, chance in enumerate(KNOWN[attack, defence]):
        assert throw_chance(attack, defence, lost) == pytest.approx(float(chance), abs=1e-15)


@pytest.mark.parametrize("attackers, defenders, dice", [(3, 2, (3, 2)), (70, 9, (3, 2)), (4, 1, (3, 1)), (1, 5, (1, 2))])
def test_both_sides_throw_as_many_dice_as_they_may(attackers, defenders, dice):
    text = board({"Siam": attackers + 1}, {"China": defenders}, "b1", "turn 1 a dice Siam > China")
    assert [p for _, p in FULL.chance_outcomes(FULL.parse(text))] == pytest.approx([float(p) for p in KNOWN[dice]])


@KINDS
def test_drawn_throws(attack, defence):
    from scipy import stats

    state = FULL.parse(board({"Siam": attack + 1}, {"China": defence}, "b1", "turn 1 a dice Siam > China"))
    drawn = np.zeros(200_000, np.int64)
    referee.draw_outcomes(FULL, state, drawn, seeded(3, 0))
    likely = [float(p) for p in KNOWN[attack, defence]]
    counts = np.bincount(drawn, minlength=len(likely))
    assert len(counts) == len(likely)
    assert stats.chisquare(counts, np.array(likely) * drawn.size).pvalue > 1e-6


def test_drawn_deals():
    """Every territory that is left is equally likely, no other one comes."""
    from scipy import stats

    state = FULL.initial_state()
    for territory in (3, 17, 41):
        state = FULL.apply(state, territory)
    drawn = np.zeros(100_000, np.int64)
    referee.draw_outcomes(FULL, state, drawn, seeded(4, 0))
    counts = np.bincount(drawn, minlength=42)
    assert counts[[3, 17, 41]].tolist() == [0, 0, 0]
    assert stats.chisquare(np.delete(counts, [3, 17, 41])).pvalue > 1e-6


def test_known_battles():
    assert battle(3, 2) == Fraction(6610505, 10077696)
    assert win_chance(3, 2) == pytest.approx(6610505 / 10077696, abs=1e-15)
    assert round(win_chance(5, 5), 4) == 0.5062


def test_battles_to_their_end():
    for attackers in range(1, 17):
        for defenders in range(1, 17):
            assert WINS[attackers, defenders] == pytest.approx(float(battle(attackers, defenders)), abs=1e-13)
    assert battle_wins(30)[:25, :25].tolist() == WINS[:25, :25].tolist()


def test_more_attackers_win_more_often():
    """So that one number for each number of defenders says when an attack is worth it."""
    wins = battle_wins(LARGEST)
    assert (np.diff(wins, axis=0)[:, 1:] >= 0).all()
    assert (np.diff(wins, axis=1)[1:] <= 0).all()
    for defenders in range(1, LARGEST + 1):
        assert wins[NEEDED[defenders], defenders] > 0.5 >= wins[NEEDED[defenders] - 1, defenders]


def test_beyond_the_tables():
    """As a side that is too large counts as the largest; what is needed follows the ratio of losses."""
    assert win_chance(1000, 3) == WINS[BATTLE, 3]
    assert win_chance(3, 1000) == WINS[3, BATTLE]
    exact = np.argmax(battle_wins(700) > 0.5, axis=0)
    for defenders in range(LARGEST, 700):
        assert abs(needed(defenders) - exact[defenders]) <= 1
