"""Hex: OpenSpiel, the winner by plain search, exact odds of random play, and the rules as plain Python."""

import math
from itertools import combinations, islice

import numpy as np
import pytest

from distmcts.errors import InputError
from distmcts.kernels.rng import seeded
from games.hex import Hex
from tests.support.playing import (
    BY_PLAYOUT,
    BY_RULES,
    alongside,
    both_ways,
    lockstep,
    plain_trace,
    play_out,
    positions,
    their_look,
    trace,
)


def cells(game: Hex, state: np.ndarray, mark: str) -> set[int]:
    """Where the stones of one player are."""
    return {cell for cell, here in enumerate(game.format(state).replace("/", "")) if here == mark}


def top_meets_bottom(size: int, stones: set[int]) -> bool:
    """By search, stone by stone."""
    found = [cell for cell in stones if cell < size]
    seen = set(found)
    for cell in found:
        row, column = divmod(cell, size)
        if row == size - 1:
            return True
        for r, c in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)):
            neighbour = (row + r) * size + column + c
            if 0 <= column + c < size and neighbour in stones and neighbour not in seen:
                seen.add(neighbour)
                found.append(neighbour)
    return False


@pytest.mark.parametrize("size, counts", [(3, [9, 72, 504, 3024]), (11, [121, 14520, 1727880])])
def test_perft(size, counts):
    """No game ends before its first player has `size` stones."""
    game = Hex(size)
    assert [game.perft(depth + 1) for depth in range(len(counts))] == counts
    assert list(game.perft_counts) == counts[:2]


@pytest.mark.parametrize("size", [3, 11, 14])
def test_same_as_open_spiel(size):
    import pyspiel

    game = Hex(size)
    for state, theirs in alongside(game, pyspiel.load_game("hex", {"board_size": size}), 200):
        assert game.look(state) == their_look(theirs)


def test_two_thousand_games_of_open_spiel():
    import pyspiel

    assert lockstep(Hex(11), pyspiel.load_game("hex"), 2000) > 100_000


@pytest.mark.parametrize("size", [3, 8, 11, 19])
def test_playout_fills_the_board(size):
    game = Hex(size)
    rng = seeded(6, 0)
    for state in islice(positions(game, 3, seed=6), 0, None, 17 if size > 3 else 1):
        end, result = play_out(game, state, BY_PLAYOUT, rng)
        assert game.is_over(end)
        assert game.returns(end) == [result, -result]
        if game.is_over(state):
            assert (state == end).all()
            continue
        first, second = cells(game, end, "x"), cells(game, end, "o")
        assert len(first | second) == size**2
        assert len(first) - len(second) == size % 2
        assert first >= cells(game, state, "x")
        assert second >= cells(game, state, "o")
        assert top_meets_bottom(size, first) == (result == 1)
        assert (game.parse(game.format(end)) == end).all()


@pytest.mark.parametrize("size, start", [(2, "../.."), (3, ".../.../..."), (3, ".../.x./..."), (3, "x../.o./...")])
@pytest.mark.parametrize("cutoff", [BY_PLAYOUT, BY_RULES])
def test_odds_of_random_play(size, start, cutoff):
    """Every way to deal the free cells is equally likely; count those that win."""
    game = Hex(size)
    state = game.parse(start)
    stones = cells(game, state, "x")
    free = game.legal_moves(state)
    share = len(free) // 2 if game.player(state) else (len(free) + 1) // 2
    wins = sum(top_meets_bottom(size, stones | set(dealt)) for dealt in combinations(free, share))
    mean = 2 * wins / math.comb(len(free), share) - 1
    rng = seeded(5, 0)
    results = np.array([play_out(game, state, cutoff, rng)[1] for _ in range(20_000)])
    assert abs(results.mean() - mean) < 4.5 * np.sqrt((1 - mean**2) / results.size)


def test_every_cell_is_dealt_equally_often():
    game = Hex(11)
    rng = seeded(7, 0)
    count = 20_000
    ends = np.array([play_out(game, game.initial_state(), BY_PLAYOUT, rng)[0][: game.words] for _ in range(count)])
    shares = np.unpackbits(ends.view(np.uint8), axis=1, bitorder="little")[:, :121].mean(axis=0)
    assert np.abs(shares - 61 / 121).max() < 5 * np.sqrt(0.25 / count)


def test_playout_is_random_play():
    game = Hex(11)
    means = [np.mean([result for _, result in ends]) for ends in both_ways(game, game.initial_state(), 20_000)]
    assert abs(means[0] - means[1]) < 4.5 * np.sqrt(2 / 20_000)


@pytest.mark.parametrize("size", [3, 11])
def test_text_round_trip(size):
    game = Hex(size)
    for state in positions(game, 4, seed=2):
        assert (game.parse(game.format(state)) == state).all()
        for move in game.legal_moves(state):
            assert game.parse_move(state, game.move_name(state, move)) == move


def test_pictures():
    game = Hex(3)
    state = game.parse("x../.o./...")
    assert game.draw(state) == "   a b c\n 1 x . .\n  2 . o .\n   3 . . ."
    assert game.svg(state).count("<path") == 9


@pytest.mark.parametrize(
    "text", ["", "...", ".../.../..", ".../.../..?", ".../.../.../...", "o../.../...", "xx./.../...", "x../oo./..."]
)
def test_impossible_positions(text):
    with pytest.raises(InputError, match="hex position") as error:
        Hex(3).parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("size", [1, 20, -3, 5.0, "11", True, None])
def test_impossible_sizes(size):
    with pytest.raises(InputError, match="size must be a whole number from 2 to 19, not"):
        Hex(size)


@pytest.mark.parametrize("size", [3, 11])
def test_plain_python_says_the_same(size):
    assert plain_trace(Hex(size), 2) == trace(Hex(size), 2)
