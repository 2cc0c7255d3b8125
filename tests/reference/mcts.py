"""UCT in plain Python, with one thread and one object per node.

It is obviously right because it is the textbook and nothing else: each simulation walks down by the formula, adds one
node, plays at random to the end, and adds the result to the nodes on its way. Positions are kept in the nodes, values
are means of plain floats, and no two things happen at once.

    score(child) = mean result + c * sqrt(ln N / n),        n = visits of the child, N = visits of the node

Among equal scores the choice is random. Games of chance are not for this file.
"""

import math
import random
from collections.abc import Sequence
from typing import Any, Protocol

Move = Any
State = Any


class Game(Protocol):
    """What a game must be able to answer. A module with these functions will do."""

    def legal_moves(self, state: State) -> Sequence[Move]: ...

    def apply(self, state: State, move: Move) -> State: ...  # a new state; the old one stays as it is

    def player(self, state: State) -> int: ...

    def is_over(self, state: State) -> bool: ...

    def returns(self, state: State) -> Sequence[float]: ...  # each player's result of a finished game


class Node:
    def __init__(self, game: Game, state: State, mover: int | None):
        self.state = state
        self.mover = mover  # who moved into this node, and whose results are counted here; nobody's at the root
        self.unexplored = [] if game.is_over(state) else list(game.legal_moves(state))
        self.children: dict[Move, Node] = {}
        self.visits = 0
        self.result_sum = 0.0

    def value(self) -> float:
        return self.result_sum / self.visits


def search(game: Game, state: State, simulations: int, c: float, rng: random.Random) -> dict[Move, tuple[int, float]]:
    """Visits and mean result of each move tried at `state`, seen by the player to move there."""
    root = Node(game, state, None)
    for _ in range(simulations):
        path = select(root, c, rng)
        if path[-1].unexplored:
            path.append(expand(game, path[-1], rng))
        results = playout(game, path[-1].state, rng)
        for node in path:
            node.visits += 1
            if node.mover is not None:
                node.result_sum += results[node.mover]
    return {move: (child.visits, child.value()) for move, child in root.children.items()}


def select(root: Node, c: float, rng: random.Random) -> list[Node]:
    """The nodes from the root down to the first that has an unexplored move or ends the game."""
    path = [root]
    while path[-1].children and not path[-1].unexplored:
        node = path[-1]
        children = list(node.children.values())
        scores = [child.value() + c * math.sqrt(math.log(node.visits) / child.visits) for child in children]
        best = [child for child, score in zip(children, scores, strict=True) if score == max(scores)]
        path.append(rng.choice(best))
    return path


def expand(game: Game, node: Node, rng: random.Random) -> Node:
    """Add the child of a random unexplored move."""
    move = node.unexplored.pop(rng.randrange(len(node.unexplored)))
    child = Node(game, game.apply(node.state, move), game.player(node.state))
    node.children[move] = child
    return child


def playout(game: Game, state: State, rng: random.Random) -> Sequence[float]:
    """Each player's result after random moves to the end."""
    while not game.is_over(state):
        state = game.apply(state, rng.choice(game.legal_moves(state)))
    return game.returns(state)
