"""Ur's reference: its rules by hand, its exact values against what is known from elsewhere and against the rules, one by one."""

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tests.reference.ur import (
    HAND,
    HOME,
    ROLL_CHANCES,
    SHARED,
    Position,
    has_won,
    is_possible,
    legal_moves,
    lies,
    play,
    read,
    solution,
    start,
)

# ---- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mine, theirs, roll, moves",
    [
        pytest.param((0, 0, 3), (0, 0, 0), 0, [], id="a roll of 0"),
        pytest.param((0, 0, 3), (0, 0, 0), 2, [0, 3], id="from the hand and on the board"),
        pytest.param((0, 0, 3), (0, 0, 0), 3, [3], id="an own piece is in the way"),
        pytest.param((0, 6, 7), (0, 0, 8), 1, [0], id="the opponent is safe on 8"),
        pytest.param((0, 6, 7), (0, 0, 9), 2, [0, 6, 7], id="elsewhere the opponent can be captured"),
        pytest.param((2, 11, 14), (2, 4, 14), 2, [2, 11], id="a piece on the opponent's own squares is nowhere near"),
        pytest.param((11, 13, 14), (0, 0, 0), 4, [11], id="home by exact count only"),
        pytest.param((13, 14, 15), (0, 0, 0), 1, [14], id="13 to 14 is taken, 14 goes home"),
        pytest.param((13, 14, 15), (0, 0, 0), 3, [], id="too far"),
    ],
)
def test_legal_moves(mine, theirs, roll, moves):
    assert legal_moves(mine, theirs, roll) == moves


@pytest.mark.parametrize(
    "mine, theirs, roll, move, after",
    [
        pytest.param((0, 0), (0, 0), 3, 0, ((0, 3), (0, 0), False), id="entering"),
        pytest.param((0, 0), (0, 4), 4, 0, ((0, 4), (0, 4), True), id="rosette on an own square"),
        pytest.param((4, 6), (0, 7), 4, 4, ((6, 8), (0, 7), True), id="rosette on a shared square"),
        pytest.param((4, 6), (7, 15), 1, 6, ((4, 7), (0, 15), False), id="capture"),
        pytest.param((12, 15), (0, 13), 1, 12, ((13, 15), (0, 13), False), id="no capture beyond the shared squares"),
        pytest.param((12, 15), (0, 14), 2, 12, ((14, 15), (0, 14), True), id="the last rosette"),
        pytest.param((13, 14), (0, 0), 1, 14, ((13, 15), (0, 0), False), id="home"),
    ],
)
def test_play(mine, theirs, roll, move, after):
    assert play(mine, theirs, roll, move) == after


def test_illegal_moves_are_refused():
    for roll, move in ((0, 0), (2, 5), (3, 0), (4, 13)):
        with pytest.raises(ValueError, match="illegal move"):
            play((0, 3, 13), (0, 0, 0), roll, move)


@pytest.mark.parametrize("pieces, count", [(3, 264_304), (7, 137_913_936)])
def test_number_of_positions(pieces, count):
    shared = Counter(frozenset(place for place in lie if place in SHARED) for lie in lies(pieces))
    assert sum(a * b for x, a in shared.items() for y, b in shared.items() if not x & y) == count


def test_possible_positions_stay_possible():
    for mine in lies(2):
        for theirs in lies(2):
            if is_possible(mine, theirs) and not has_won(mine) and not has_won(theirs):
                for roll in range(5):
                    for move in legal_moves(mine, theirs, roll):
                        mine_then, theirs_then, _ = play(mine, theirs, roll, move)
                        assert mine_then in solution(2).number and theirs_then in solution(2).number
                        assert is_possible(mine_then, theirs_then)


# ---- exact values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces, chance", [(1, 0.530049839525), (2, 0.518572907496), (3, 0.516201102238)])
def test_known_values(pieces, chance):
    assert solution(pieces).before_roll(*start(pieces)) == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("mine, theirs, chance", [(14, 14, "4/7"), (13, 14, "116/161"), (14, 13, "74/161")])
@pytest.mark.parametrize("pieces", [1, 3])
def test_known_endgames(pieces, mine, theirs, chance):
    home = (HOME,) * (pieces - 1)
    assert solution(pieces).before_roll((mine, *home), (theirs, *home)) == pytest.approx(float(Fraction(chance)), abs=1e-11)


def by_the_rules(pieces: int, mine: tuple, theirs: tuple) -> float:
    """The chance to win, one roll ahead by the plain rules, from there by the solution."""
    total = 0.0
    for roll, likely in enumerate(ROLL_CHANCES):
        values = solution(pieces).after_roll(mine, theirs, roll)
        total += likely * (max(values.values()) if values else 1 - solution(pieces).before_roll(theirs, mine))
    return total


@pytest.mark.parametrize("pieces, share, at_least", [(1, 1, 217), (2, 1, 12_869), (3, 0.02, 5000)])
def test_solutions_keep_the_rules(pieces, share, at_least):
    """In every position, or in some thousands: the value is that of the best move for each roll."""
    choose = random.Random(1)
    checked = 0
    for mine in lies(pieces):
        for theirs in lies(pieces):
            if is_possible(mine, theirs) and not has_won(mine) and not has_won(theirs) and choose.random() < share:
                value = solution(pieces).before_roll(mine, theirs)
                assert 0 < value < 1
                assert value == pytest.approx(by_the_rules(pieces, mine, theirs), abs=1e-11)
                checked += 1
    assert checked >= at_least


def test_only_impossible_positions_have_no_value():
    solved = solution(2)
    for i, mine in enumerate(solved.lies):
        for j, theirs in enumerate(solved.lies):
            assert np.isnan(solved.table[i, j]) == (not has_won(theirs) and (has_won(mine) or not is_possible(mine, theirs)))


def test_values_of_moves():
    """One piece to bring home against one on the last square: who goes home has won, who cannot has the rest of 4/7."""
    solved = solution(2)
    assert solved.after_roll((14, HOME), (HAND, HAND), 1) == {14: 1.0}
    assert solved.after_roll((13, HOME), (14, HOME), 1) == {13: pytest.approx(4 / 7)}  # a rosette: the same player rolls
    assert solved.after_roll((12, HOME), (14, HOME), 1) == {12: pytest.approx(1 - 74 / 161)}
    assert solved.after_roll((14, HOME), (14, HOME), 2) == {}


def test_positions_are_read_from_text():
    assert read("7 - 0 / 7 - 0 / 0 ?") == Position((HAND,) * 7, (HAND,) * 7, 0, None)
    assert read("1 4,8 0 / 2 - 1 / 1 2") == Position((0, 0, 15), (0, 4, 8), 1, 2)
    assert read("0 - 2 / 1 5 0 / over") == Position((0, 5), (15, 15), 1, None)
