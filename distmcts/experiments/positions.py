"""Where to measure: openings, positions in the middle of games, and solved ones. All by random play, the same with a seed."""

from collections.abc import Iterator
from random import Random

from distmcts.experiments.oracle import Oracle
from distmcts.game import CompiledGame, State
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.match.play import outcome

TRIES = 50  # random games for each position asked for, before giving up
LONGEST = 1000  # moves of a random game; a game without end is cut here

Solved = tuple[State, dict[int, float]]


def openings(game: CompiledGame, count: int, plies: int, seed: int) -> list[State]:
    """Distinct positions after `plies` random moves; fewer if the game has fewer.

    Positions where the player to move wins at once are left out, unless there are no others.
    """
    choose = Random(seed)
    open_ones: dict[str, State] = {}
    decided: dict[str, State] = {}
    for _ in range(TRIES * count):
        if len(open_ones) == count:
            break
        *_, state = _random_game(game, choose, plies)
        while game.player(state) == CHANCE:
            state = game.apply(state, outcome(game, state, choose))
        name = game.format(state)
        if name in open_ones or name in decided or game.is_over(state):
            continue
        kind = decided if _wins_at_once(game, state) else open_ones
        kind[name] = state
    return list((open_ones or decided).values())[:count]


def midgame(game: CompiledGame, count: int, seed: int) -> list[State]:
    """Distinct positions, each from a random place of a random game."""
    choose = Random(seed)
    found: dict[str, State] = {}
    for _ in range(TRIES * count):
        if len(found) == count:
            break
        state = choose.choice(_unfinished(game, choose))
        found.setdefault(game.format(state), state)
    return list(found.values())


def solved_positions(game: CompiledGame, count: int, seed: int, node_limit: int = 20_000) -> list[Solved]:
    """Positions with the exact value of every move, and moves that differ in it: so there is something to get wrong.

    Blocks: a second or two for each.
    """
    choose = Random(seed)
    found: dict[str, Solved] = {}
    for _ in range(TRIES * count):
        if len(found) == count:
            break
        states = _unfinished(game, choose)
        # A game that gives nothing for a tenth of the work rarely gives anything for all of it.
        if _farthest_solved(game, states, max(1, node_limit // 10), found):
            solved = _farthest_solved(game, states, node_limit, found)
            found[game.format(solved[0])] = solved
    return list(found.values())


def _farthest_solved(game: CompiledGame, states: list[State], node_limit: int, known: dict[str, Solved]) -> Solved | None:
    """Back from the end of a game as far as the limit allows: the farthest position whose moves differ, and that is new."""
    oracle = Oracle(game, node_limit)
    farthest = None
    for state in reversed(states):
        values = oracle.values(state)
        if values is None:
            break
        if len(set(values.values())) > 1 and game.format(state) not in known:
            farthest = state, values
    return farthest


def _random_game(game: CompiledGame, choose: Random, plies: int = LONGEST) -> Iterator[State]:
    """The positions of a random game, the first one included, until its end or for so many moves."""
    state = game.initial_state()
    yield state
    for _ in range(plies):
        player, moves, _ = game.look(state)
        if player == OVER:
            return
        state = game.apply(state, outcome(game, state, choose) if player == CHANCE else choose.choice(moves))
        yield state


def _unfinished(game: CompiledGame, choose: Random) -> list[State]:
    """The positions of a random game where a player is to move."""
    return [state for state in _random_game(game, choose) if game.player(state) >= 0]


def _wins_at_once(game: CompiledGame, state: State) -> bool:
    player, moves, _ = game.look(state)
    if isinstance(moves, range):
        return False  # too many to look at
    after = (game.apply(state, move) for move in moves)
    return any(game.is_over(end) and game.returns(end)[player] > 0 for end in after)
