"""Monte Carlo Tree Search in plain Python, with one thread and one object per node: what the engine is compared with.

It is obviously right because it is the textbook and nothing else: each simulation walks down by the formula, adds one
node, plays to the end, and adds the result to the nodes on its way. Positions are kept in the nodes, nothing is packed,
and no two things happen at once.

    score(child) = mean result + bonus,        n = visits of the child, N = visits of the node

    UCT            c * sqrt(ln N / n)
    UCB1-Tuned     c * sqrt(ln N / n * min(1, variance + 4 * sqrt(2 ln N / n)))
    PUCT           c * prior * sqrt(N) / (1 + n)
    random         any child instead, whatever its score
    with bias      k * hint / (n + 1) more, the hint being the evaluation after the move

It draws the random numbers of the engine (random_words.py) in the order in which the engine needs them, so that from one
seed both grow the same tree, node for node. In a simulation that is

    1. a word whose bytes decide between equal scores
    2. on the way down, at every chance event: an outcome
    3. on the way down, with random selection: a child
    4. at the end of the way: which untried move is added
    5. the playout

With visit quotas a simulation begins where the last one stayed (levels.py).

Settings have the names, the defaults and the meaning that they have in the engine (distmcts/settings.py). Two players; the
moves of RAVE are told apart by their numbers alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tests.reference.levels import UNIT, Level, Levels, seen_by_both
from tests.reference.places import Memory
from tests.reference.random_words import RandomWords, turned_left

Move = Any
State = Any


class Game(Protocol):
    """What a game must be able to answer. A module with these functions will do, and so does a compiled game."""

    def legal_moves(self, state: State) -> Sequence[Move]: ...

    def apply(self, state: State, move: Move) -> State: ...  # a new state; the old one stays as it is

    def player(self, state: State) -> int: ...

    def is_over(self, state: State) -> bool: ...

    def returns(self, state: State) -> Sequence[float]: ...  # each player's result of a finished game

    # Only where there is chance: outcomes with their probabilities, none where a player is to move.
    # def chance_outcomes(self, state: State) -> Sequence[tuple[Move, float]]: ...

    # Only for cutoff and samples: each player's expected result.
    # def evaluate(self, state: State) -> Sequence[float]: ...


@dataclass
class Settings:
    c: float = math.sqrt(2)
    selection: str = "uct"
    first_play_urgency: float = math.inf
    widening: float | None = None
    widening_power: float = 0.5
    chance: str = "enumerated"
    chance_widening: float | None = None
    chance_widening_power: float = 0.5
    samples: int = 1
    rave: float | None = None
    progressive_bias: float | None = None
    solver: bool = False
    cutoff: int | None = None
    stay: float = 1 / 32


class Node:
    def __init__(self, state: State, move: Move, seen_by: int, prior: float = 0.0):
        self.state = state
        self.move = move  # that leads here
        self.seen_by = seen_by  # whose results are counted: who moved into the node, or into the chance event before it
        self.prior = float(np.float32(prior))  # how likely a move is to be the best, or an outcome to come; 24 bits of it
        self.children: list[Node] = []
        self.visits = 0
        self.value_sum = 0
        self.squares = 0
        self.rave_visits = 0
        self.rave_sum = 0
        self.proven: int | None = None  # the exact value
        self.place = 0  # in the engine's memory
        self.run = 0

    def value(self) -> float:
        return self.value_sum / UNIT / self.visits if self.visits else 0.0


class Search:
    """A tree that grows by simulations, as that of one worker does.

    `playout` is the game's own way to play to the end, if it has one (with RAVE, or a cutoff, playouts go step by step);
    `sample_outcome` its way to throw dice in playouts and for hashed outcomes; `priors` what it says about legal moves.
    """

    def __init__(
        self,
        game: Game,
        state: State,
        seed: int,
        *,
        worker: int = 0,
        playout: Callable[[Game, State, RandomWords], Sequence[float]] | None = None,
        sample_outcome: Callable[[Game, State, RandomWords], Move] | None = None,
        priors: Callable[[Game, State], Sequence[float]] | None = None,
        **settings: Any,
    ):
        self.game = game
        self.own_playout, self.sample_outcome, self.priors = playout, sample_outcome, priors
        self.settings = Settings(**settings)
        self.words = RandomWords(seed, worker)
        self.memory = Memory()
        self.levels = Levels(0.0 if self.settings.selection == "random" else self.settings.stay)
        at_chance = bool(self.outcomes(state))
        self.root = Node(state, None, 0 if at_chance else (game.player(state) - 1) % 2)

    def run(self, simulations: int) -> Node:
        for left in range(simulations, 0, -1):
            self.simulate(left)
        self.levels.add(0, [0, 0], closing=0)
        return self.root

    def outcomes(self, state: State) -> Sequence[tuple[Move, float]]:
        return self.game.chance_outcomes(state) if hasattr(self.game, "chance_outcomes") else []

    def simulate(self, left: int) -> None:
        """One simulation; so many are left, this one included."""
        ties = self.words.word()
        levels = self.levels
        levels.close_proven()
        if not levels:
            self.enter(self.root, left)
        levels[-1].bound = None
        made: list[tuple[int, Move]] = []  # all moves of the simulation, by whom
        for above, node in zip(levels.nodes, levels.nodes[1:], strict=False):
            if not self.outcomes(above.state):
                made.append((node.seen_by, node.move))
        while not self.game.is_over(levels[-1].node.state):
            if outcomes := self.outcomes(levels[-1].node.state):
                node = self.pass_chance(levels[-1], outcomes)
            else:
                node = self.step(levels[-1], ties)
                made.append((node.seen_by, node.move))
                ties = turned_left(ties, 64 - 11)  # other bytes for the next level
            self.enter(node, levels[-1].most_below())
            if node.visits == 0 or node.proven is not None:
                break
        path = levels.nodes
        rewards = self.rewards(path[-1], made)
        levels.add(1, rewards)
        if self.settings.rave:
            self.credit_moves(path, rewards, made)
        if self.settings.solver:
            self.prove(path)

    def enter(self, node: Node, most: int) -> None:
        self.levels.enter(node, most, bool(self.outcomes(node.state)))

    def visits(self, node: Node) -> int:
        """With those that only the level knows of."""
        return node.visits + sum(level.visits for level in self.levels if level.node is node)

    # ---- on the way down -----------------------------------------------------------------------------------------------

    def add_child(self, node: Node, move: Move, most: int, seen_by: int, prior: float = 0.0) -> Node:
        child = Node(self.game.apply(node.state, move), move, seen_by, prior)
        self.memory.add(node, child, most)
        return child

    def step(self, level: Level, ties: int) -> Node:
        """From a node where a player is to move: to a new child, or to the best."""
        node = level.node
        moves = self.game.legal_moves(node.state)
        if self.settings.selection == "puct" and not node.children:
            for move, prior in zip(moves, self.priors(self.game, node.state), strict=True):
                self.add_child(node, move, len(moves), self.game.player(node.state), prior)
        tried = {child.move for child in node.children}
        untried = [move for move in moves if move not in tried]
        if not node.children:
            return self.expand(node, moves, untried)
        best = self.best(node, node.children, ties)
        is_urgent = self.score(node, best, ties) < self.settings.first_play_urgency
        is_full = has_enough(node, self.visits(node), self.settings.widening, self.settings.widening_power)
        if untried and is_urgent and not is_full:
            return self.expand(node, moves, untried)
        if self.settings.selection == "random":
            return node.children[self.words.below(len(node.children))]
        open_children = [child for child in node.children if child.proven is None]
        if best.proven is not None and open_children:
            level.bound = best.proven
            return self.best(node, open_children, ties)
        return best

    def best(self, node: Node, children: list[Node], ties: int) -> Node:
        return max(children, key=lambda child: self.score(node, child, ties))

    def score(self, node: Node, child: Node, ties: int) -> float:
        """The score, and a byte of the random word in a place where it matters only between equals."""
        return self.plain_score(node, child) + (ties >> 8 * (child.place % 8) & 255) * 2.0**-48

    def plain_score(self, node: Node, child: Node) -> float:
        if child.proven is not None:
            return child.proven / UNIT
        settings, n, N = self.settings, child.visits, max(self.visits(node), 1)
        mean = child.value()
        if child.rave_visits:
            beta = math.sqrt(settings.rave / (3 * n + settings.rave))
            mean = (1 - beta) * mean + beta * child.rave_sum / UNIT / child.rave_visits
        if settings.progressive_bias:
            mean += settings.progressive_bias * float(np.float32(self.worth(child.state, child.seen_by))) / (n + 1)
        if settings.selection == "puct":
            return mean + settings.c * child.prior * math.sqrt(N) / (1 + n)
        share = math.log(N) / n
        if settings.selection == "ucb1_tuned":
            variance = child.squares / UNIT / n - child.value() ** 2
            return mean + settings.c * math.sqrt(share * min(1, variance + 4 * math.sqrt(2 * share)))
        return mean + settings.c * math.sqrt(share)

    def expand(self, node: Node, moves: Sequence[Move], untried: list[Move]) -> Node:
        """Add the child of a random untried move, or of the best evaluated one of some."""
        samples = max(min(self.settings.samples, len(untried) // 2), 1)
        player = self.game.player(node.state)
        for i in range(samples):  # shuffle the first of them
            other = i + self.words.below(len(untried) - i)
            untried[i], untried[other] = untried[other], untried[i]
        if samples > 1:
            untried = sorted(untried[:samples], key=lambda move: -self.worth(self.game.apply(node.state, move), player))
        return self.add_child(node, untried[0], len(moves), player)

    def worth(self, state: State, player: int) -> float:
        """What a position is worth to a player, by the evaluation; at a chance event, the mean of its outcomes."""
        if outcomes := self.outcomes(state):
            return sum(chance * self.estimate(self.game.apply(state, outcome))[player] for outcome, chance in outcomes)
        return self.estimate(state)[player]

    def estimate(self, state: State) -> Sequence[float]:
        return self.game.returns(state) if self.game.is_over(state) else self.game.evaluate(state)

    # ---- chance --------------------------------------------------------------------------------------------------------

    def pass_chance(self, level: Level, outcomes: Sequence[tuple[Move, float]]) -> Node:
        if self.settings.chance == "hashed":
            return self.pass_hashed(level)
        node = level.node
        if not node.children:
            for outcome, chance in outcomes:
                self.add_child(node, outcome, len(outcomes), node.seen_by, chance)
        return node.children[level.next_draw(lambda: self.draw([chance for _, chance in outcomes]))]

    def draw(self, chances: Sequence[float]) -> int:
        """The number of an outcome."""
        share = self.words.share()
        for number, chance in enumerate(chances[:-1]):
            share -= chance
            if share < 0:
                return number
        return len(chances) - 1

    def pass_hashed(self, level: Level) -> Node:
        """An outcome as it comes; or, once they are enough, one that came before, each as likely as it was often."""
        node = level.node
        visits = self.visits(node)
        if node.children and has_enough(node, visits, self.settings.chance_widening, self.settings.chance_widening_power):
            level.by_chance = True
            left = self.words.rank(sum(child.visits + 1 for child in node.children))
            for child in node.children:
                left -= child.visits + 1
                if left < 0:
                    return child
        at_once = self.settings.chance_widening is None
        outcome = level.next_draw(lambda: self.sample_outcome(self.game, node.state, self.words), at_once)
        position = self.game.apply(node.state, outcome)
        for child in node.children:
            if np.array_equal(child.state, position):
                return child
        return self.add_child(node, outcome, len(node.children) + 1024, node.seen_by)

    # ---- at the end, and on the way up -----------------------------------------------------------------------------------

    def rewards(self, node: Node, made: list[tuple[int, Move]]) -> list[int]:
        """What the simulation is worth to each player: by proof, or by a playout."""
        if self.settings.solver and self.game.is_over(node.state):
            node.proven = in_units(self.game.returns(node.state)[node.seen_by])
        if node.proven is not None:
            return seen_by_both(node.proven, node.seen_by)
        return [in_units(result) for result in self.playout(node.state, made)]

    def playout(self, state: State, made: list[tuple[int, Move]]) -> Sequence[float]:
        if self.own_playout and self.settings.cutoff is None and not self.settings.rave:
            return self.own_playout(self.game, state, self.words)
        steps = 0
        while not self.game.is_over(state):
            if steps == self.settings.cutoff:
                return self.game.evaluate(state)
            if self.outcomes(state):
                move = self.sample_outcome(self.game, state, self.words)
            else:
                moves = self.game.legal_moves(state)
                move = moves[self.words.below(len(moves))]
                made.append((self.game.player(state), move))
            state = self.game.apply(state, move)
            steps += 1
        return self.game.returns(state)

    def credit_moves(self, path: list[Node], rewards: list[int], made: list[tuple[int, Move]]) -> None:
        """RAVE: a move is judged by all simulations in which its player made it, at the node or later."""
        deciding = [node for node in path[:-1] if not self.outcomes(node.state)]
        for number, node in enumerate(deciding):  # where move `number` of the simulation was made
            from_here_on = set(made[number:])
            for child in node.children:
                if (child.seen_by, child.move) in from_here_on:
                    child.rave_visits += 1
                    child.rave_sum += rewards[child.seen_by]

    def prove(self, path: list[Node]) -> None:
        """MCTS-Solver: what follows from a proven end of the path for the nodes above it."""
        for node in reversed(path):
            if node.proven is None:
                node.proven = self.proof(node)
            if node.proven is None:
                return

    def proof(self, node: Node) -> int | None:
        """Of a node from its children's: their best, or at a chance event their mean. A win needs no others beside it."""
        outcomes = self.outcomes(node.state)
        possible = outcomes or self.game.legal_moves(node.state)
        proven = [child for child in node.children if child.proven is not None]
        if not outcomes and any(child.proven == UNIT for child in proven):
            value = UNIT
        elif len(proven) < len(possible) or not possible or self.settings.chance == "hashed" and outcomes:
            return None
        elif outcomes:
            total = sum(child.prior for child in proven)
            value = round(sum(child.prior * child.proven for child in proven) / total)
        else:
            value = max(child.proven for child in proven)
        return value if node.children[0].seen_by == node.seen_by else -value


def has_enough(node: Node, visits: int, k: float | None, power: float) -> bool:
    """Progressive widening: at most k * visits^power children."""
    return k is not None and len(node.children) >= math.ceil(k * visits**power)


def in_units(result: float) -> int:
    """Rounded, halves away from 0."""
    return int(math.copysign(math.floor(abs(result) * UNIT + 0.5), result))
