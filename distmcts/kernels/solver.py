"""MCTS-Solver (Winands, Bjornsson, Saito 2008): what is proven need not be searched. For two players whose results sum to 0.

A node whose game is over is proven; a node is proven won for the player to move when one child is, and proven to be worth its
best child when all children exist and are proven; a chance node is proven, worth the mean of its outcomes, when all of them are.

A proof is the exact value, seen like all values by the player who moved into the node. It is written once; who writes it twice
writes the same. What follows from a proof for the nodes above is written by the simulation that found it, or, if its worker dies,
by the next one that ends there.

Where selection wants to visit a proven child there is nothing to learn. The visit goes to the best child that is not proven, and
so to further proofs; but the node and those above it are credited with the value of the proven child (`bounds`), which is what
the player would get. So their means stay those of good play. Where all children are proven the node is proven itself.
"""

import numpy as np

from distmcts.kernels.atomics import load, store
from distmcts.kernels.jit import part, switch
from distmcts.kernels.layout import (
    BAD_RESULTS,
    BEYOND,
    BOUND_AT,
    BREACH,
    BY_CHANCE,
    CHILD_COUNT_MASK,
    CHILDREN,
    COMPLETE,
    DEPTH,
    FINE,
    FIRST,
    FIRST_RUN,
    HALVES,
    NO_BOUND,
    PROOF_WON,
    PROOF_ZERO,
    SCALE,
)
from distmcts.kernels.modes import has
from distmcts.kernels.runs import link_to_run, next_size
from distmcts.kernels.tags import OVER, player, returns
from distmcts.kernels.units import round_to_unit

ROUNDING = 1e-6  # by so much the sum of results may differ from 0


def _is_solver(mode, *_):
    return has(mode, "solver")


def _is_proven(mode, tree, node):
    return load(tree.proofs, node) != 0


def _never_proven(mode, tree, node):
    return False


is_proven = switch(_is_solver, _is_proven, _never_proven)


def _proven_score(mode, tree, child, score, open_only):
    proof = load(tree.proofs, child)
    if proof == 0:
        return score
    return -np.inf if open_only else (proof - PROOF_ZERO) * (1.0 / SCALE)


def _same_score(mode, tree, child, score, open_only):
    return score


# The score of a child in selection: a proven one has its value, and nothing to explore; none at all with `open_only`.
with_proof = switch(_is_solver, _proven_score, _same_score)


def _bind(mode, tree, worker, child):
    worker.bounds[worker.slot[DEPTH] - 1] = load(tree.proofs, child) - PROOF_ZERO


def _bind_nothing(mode, tree, worker, child):
    pass


# A visit that a proven child would get goes to another one: the node and those above it are credited with the proven value.
bind = switch(_is_solver, _bind, _bind_nothing)


def _unbind(mode, worker, position):
    worker.bounds[position] = NO_BOUND


def _unbind_nothing(mode, worker, position):
    pass


# A node comes on the path.
unbind = switch(_is_solver, _unbind, _unbind_nothing)


def _bound_reward(mode, worker, position, visits):
    if position == worker.slot[DEPTH] - 1:
        worker.slot[BOUND_AT] = 0
    if worker.bounds[position] != NO_BOUND:
        worker.slot[BOUND_AT] = 1 + position
    bound_at = worker.slot[BOUND_AT] - 1
    mover = worker.movers[position]
    if bound_at < 0:
        return worker.rewards[mover]
    value = worker.bounds[bound_at] * visits
    return value if mover == worker.movers[bound_at + 1] else -value


def _plain_reward(mode, worker, position, visits):
    return worker.rewards[worker.movers[position]]


# What a node of the path is credited with in backup, which asks from the last to the root. tree/repair.py knows it too.
reward_at = switch(_is_solver, _bound_reward, _plain_reward)


def _settle(game, mode, tree, worker):
    last = worker.slot[DEPTH] - 1
    node = worker.path[last]
    mover = worker.movers[last]
    if load(tree.proofs, node) == 0:
        if worker.slot[BEYOND] != 0 or player(game, worker.state) != OVER:
            return False  # an outcome beyond the path says nothing certain about the chance node at its end
        returns(game, worker.state, worker.results)
        if game.in_python and worker.slot[BREACH] != FINE:
            return False
        if not abs(worker.results[0] + worker.results[1]) < ROUNDING:
            worker.slot[BREACH] = BAD_RESULTS
            return False
        store(tree.proofs, node, PROOF_ZERO + round_to_unit(worker.results[mover]))
    value = (load(tree.proofs, node) - PROOF_ZERO) * (1.0 / SCALE)
    worker.results[mover] = value
    worker.results[1 - mover] = -value
    return True


def _unsettled(game, mode, tree, worker):
    return False


# Whether the end of the path is proven, now or already; then `worker.results` are its value, and no playout is needed.
settle = switch(lambda game, mode, *_: has(mode, "solver"), _settle, _unsettled)


@part
def _proof_from_children(tree, node):
    """The proof of a node as its children's movers see it, or 0."""
    word = load(tree.halves, node * HALVES + CHILDREN)
    left = np.int64(word & CHILD_COUNT_MASK)
    if left == 0:
        return np.int64(0)
    all_proven = (word & COMPLETE) != 0
    best = np.int64(0)
    mean = 0.0
    chances = 0.0  # 1 but for rounding
    first = run = np.int64(load(tree.halves, node * HALVES + FIRST))
    size = FIRST_RUN
    number = 0
    while True:
        for child in range(run, run + min(size, left)):
            proof = np.int64(load(tree.proofs, child))
            all_proven &= proof != 0
            best = max(best, proof)
            if word & BY_CHANCE:
                mean += tree.priors[child] * (proof - PROOF_ZERO)
                chances += tree.priors[child]
        left -= size
        if left <= 0:
            break
        number += 1
        run = np.int64(load(tree.halves, link_to_run(first, run, number)))
        size = next_size(size)
    if word & BY_CHANCE:
        return PROOF_ZERO + np.int64(np.rint(mean / chances)) if all_proven else np.int64(0)
    return best if all_proven or best == PROOF_WON else np.int64(0)


def _prove_path(mode, tree, worker):
    last = worker.slot[DEPTH] - 1
    if load(tree.proofs, worker.path[last]) == 0:
        return
    for position in range(last - 1, -1, -1):
        node = worker.path[position]
        if load(tree.proofs, node) != 0:
            continue
        proof = _proof_from_children(tree, node)
        if proof == 0:
            return
        if worker.movers[position] != worker.movers[position + 1]:
            proof = 2 * PROOF_ZERO - proof  # what one wins the other loses
        store(tree.proofs, node, proof)


def _prove_nothing(mode, tree, worker):
    pass


# After a simulation: what follows from a proven end of the path for the nodes above it.
prove_path = switch(_is_solver, _prove_path, _prove_nothing)
