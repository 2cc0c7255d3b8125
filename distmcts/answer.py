"""What trees say about the position they were grown from: the move to play, what a chance event is worth, how play goes on."""

from collections.abc import Mapping, Sequence
from typing import Any

from distmcts.game import Game, State
from distmcts.kernels.layout import ROOT, Tree
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.result import Move, Result
from distmcts.tree import view
from distmcts.tree.merge import MergedMove

LINE_LENGTH = 8  # moves of a principal variation


def make_result(
    game: Game,
    state: State,
    rows: list[MergedMove],
    *,
    final: str,
    lines: Mapping[int, tuple[str, ...]],
    before: int,
    **search: Any,
) -> Result:
    """The merged moves as a result.

    lines: names of how play goes on, by move. before: the player who moved before, who sees the value of a chance event.
    search: what the result tells of the search itself.
    """
    if at_chance(game, state):
        best_move, value, player = None, mean_over_outcomes(game, state, rows), before
    else:
        best = best_row(rows, final)
        best_move, value, player = best.move, worth(best), game.player(state)
    moves = tuple(
        Move(row.move, game.move_name(state, row.move), row.visits, row.value, lines.get(row.move, ()), row.proven)
        for row in rows
    )
    return Result(game=repr(game), player=player, best_move=best_move, value=value, moves=moves, **search)


def at_chance(game: Game, state: State) -> bool:
    return game.has_chance and game.player(state) == CHANCE


def worth(row: MergedMove) -> float:
    """A move's value; exact if it is proven."""
    return row.value if row.proven is None else row.proven


def best_row(rows: list[MergedMove], final: str) -> MergedMove:
    """The move to play. What the solver has proven comes before what was counted."""
    rows = _without_the_refuted(rows)
    if final == "value":
        return max(rows, key=lambda row: (row.visits > 0, row.value, row.visits))
    if final == "vote":
        return max(rows, key=lambda row: (row.votes, row.visits))
    return rows[0]


def _without_the_refuted(rows: list[MergedMove]) -> list[MergedMove]:
    """The rows to choose from: the best one that is proven, or else those that are not, if the most visited looks better."""
    proven = [row for row in rows if row.proven is not None]
    if not proven:
        return rows
    best = max(proven, key=lambda row: row.proven)
    rest = [row for row in rows if row.proven is None]
    # Visits say nothing about a proven move: the search leaves it alone.
    return [best] if not rest or best.proven >= max(row.value for row in rest if row.visits == rest[0].visits) else rest


def mean_over_outcomes(game: Game, state: State, rows: list[MergedMove]) -> float:
    """The value of a chance event: of each outcome by its probability, or by its visits while some are not known."""
    likely = dict(game.chance_outcomes(state))
    if all(row.visits or row.proven is not None for row in rows) and likely.keys() == {row.move for row in rows}:
        return sum(likely[row.move] * worth(row) for row in rows)
    return sum(row.value * row.visits for row in rows) / max(1, sum(row.visits for row in rows))


def places(trees: list[Tree]) -> dict[int, tuple[Tree, int]]:
    """Of each move at the root: the tree that visited it most, and its node there."""
    found: dict[int, tuple[int, Tree, int]] = {}
    for tree in trees:
        for child in view.children(tree, ROOT):
            if child.move not in found or child.visits > found[child.move][0]:
                found[child.move] = child.visits, tree, child.node
    return {move: (tree, node) for move, (_, tree, node) in found.items()}


def moves_after(game: Game, state: State, move: int, tree: Tree, node: int) -> list[int]:
    """The moves most visited after a move, itself first. The move leads to the node."""
    moves = [move]
    state = game.apply(state, move)
    while len(moves) < LINE_LENGTH and game.player(state) != OVER:
        children = [child for child in view.children(tree, node) if child.visits]
        if not children:
            break
        best = max(children, key=lambda child: (child.visits, child.value))
        moves.append(best.move)
        state = game.apply(state, best.move)
        node = best.node
    return moves


def names_of(game: Game, state: State, moves: Sequence[int]) -> tuple[str, ...]:
    """What a line of moves is called."""
    names = []
    for move in moves:
        names.append(game.move_name(state, move))
        state = game.apply(state, move)
    return tuple(names)
