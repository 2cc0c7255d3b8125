"""MCTS-Solver (Winands, Bjornsson, Saito 2008): what is proven need not be searched. For two players whose results sum to 0.

A node whose game is over is proven; a node is proven won for the player to move when one child is, and proven to be worth its
best child when all children exist and are proven; a chance node is proven, worth the mean of its outcomes, when all of them are.

A proof is the exact value, seen like all values by the player who moved into the node. It is written once; any two writers
write the same. What follows from a proof for the nodes above is written by the simulation that found it, or, if its worker
dies, by the next one that ends there.

Where selection wants to visit a proven child there is nothing to learn. The visit goes to the best child that is not proven, and
so to further proofs; but the node and those above it are credited with the value of the proven child (`bounds`), which is what
the player would get. So their means stay those of good play. Where all children are proven the node is proven itself.
"""

import numpy as np

from distmcts.kernels.atomics import load, store
from distmcts.kernels.choose import best_child, choose
from distmcts.kernels.family import first_child_of, next_child
from distmcts.kernels.fixed_point import fixed_point
from distmcts.kernels.hooks import after_simulation, fill_carry
from distmcts.kernels.jit import inner
from distmcts.kernels.layout import (
    BAD_RESULTS,
    BEYOND,
    BOUND_AT,
    BREACH,
    DEPTH,
    FINE,
    NO_BOUND,
    NONE,
    PROOF_WON,
    PROOF_ZERO,
    SCALE,
)
from distmcts.kernels.modes import uses
from distmcts.kernels.node import is_by_chance, is_complete, status_of
from distmcts.kernels.proofs import bind, carry_rewards, is_proven, rebind, reward_at, settle, unbind, with_proof
from distmcts.kernels.rules import OVER, player, returns

ROUNDING = 1e-6  # by so much the sum of results may differ from 0

is_used = uses("solver")


@is_proven.when(is_used)
def _is_proven(mode, tree, node):
    return load(tree.proofs, node) != 0


@with_proof.when(is_used)
def _proven_score(mode, tree, child, score, open_only):
    proof = load(tree.proofs, child)
    if proof == 0:
        return score
    return -np.inf if open_only else (proof - PROOF_ZERO) * (1.0 / SCALE)


@choose.when(is_used)
def _choose_open(mode, tree, worker, simulation, node, counts, bits, settings):
    child, best = best_child(mode, tree, worker, simulation, node, counts, bits, settings, False)
    if child != NONE and is_proven(mode, tree, child):
        other, _ = best_child(mode, tree, worker, simulation, node, counts, bits, settings, True)
        if other != NONE:
            bind(mode, tree, simulation, child)
            child = other
    return child, best


@bind.when(is_used)
def _bind(mode, tree, simulation, child):
    simulation.bounds[simulation.journal[DEPTH] - 1] = load(tree.proofs, child) - PROOF_ZERO


@unbind.when(is_used)
def _unbind(mode, simulation, position):
    simulation.bounds[position] = NO_BOUND


@reward_at.when(is_used)
def _bound_reward(mode, simulation, position, visits):
    journal, bounds, movers = simulation.journal, simulation.bounds, simulation.movers
    if bounds[position] != NO_BOUND:
        journal[BOUND_AT] = 1 + position
    bound_at = journal[BOUND_AT] - 1
    mover = movers[position]
    if bound_at < 0:
        return simulation.rewards[mover]
    value = bounds[bound_at] * visits
    return value if mover == movers[bound_at + 1] else -value


@inner
def value_carry(simulation, position, carry):
    """All visits of a carry are worth what is proven at a position of the path."""
    mover = simulation.movers[position + 1]
    value = simulation.bounds[position] * carry[0]
    carry[1 + mover] = value
    carry[1 + (1 - mover)] = -value


@carry_rewards.when(is_used)
def _proven_rewards(game, mode, simulation, carry):
    bound_at = simulation.journal[BOUND_AT] - 1
    if bound_at >= 0:
        value_carry(simulation, bound_at, carry)
    else:
        for player in range(game.players):
            carry[1 + player] = simulation.rewards[player]


@rebind.when(is_used)
def _rebind(game, mode, simulation, position, carry):
    if simulation.bounds[position] != NO_BOUND:
        value_carry(simulation, position, carry)
        fill_carry(game, mode, carry)


@settle.when(is_used)
def _settle(game, mode, tree, worker, simulation):
    last = simulation.journal[DEPTH] - 1
    node = simulation.path[last]
    mover = simulation.movers[last]
    if load(tree.proofs, node) == 0:
        if simulation.journal[BEYOND] != 0 or player(game, worker.state) != OVER:
            return False  # an outcome beyond the path says nothing certain about the chance node at its end
        returns(game, worker.state, worker.results)
        if game.in_python and worker.slot[BREACH] != FINE:
            return False
        if not abs(worker.results[0] + worker.results[1]) < ROUNDING:
            worker.slot[BREACH] = BAD_RESULTS
            return False
        store(tree.proofs, node, PROOF_ZERO + fixed_point(worker.results[mover]))
    value = (load(tree.proofs, node) - PROOF_ZERO) * (1.0 / SCALE)
    worker.results[mover] = value
    worker.results[1 - mover] = -value
    return True


@inner
def proof_from_children(tree, node):
    """The proof of a node as its children's movers see it, or 0."""
    status = status_of(tree, node)
    all_proven = is_complete(status)
    by_chance = is_by_chance(status)
    best = np.int64(0)
    mean = 0.0
    chances = 0.0  # 1 but for rounding
    at = first_child_of(tree, node, status)
    if at.child == NONE:
        return np.int64(0)
    while at.child != NONE:
        proof = np.int64(load(tree.proofs, at.child))
        all_proven &= proof != 0
        best = max(best, proof)
        if by_chance:
            mean += tree.priors[at.child] * (proof - PROOF_ZERO)
            chances += tree.priors[at.child]
        at = next_child(tree, at)
    if by_chance:
        return PROOF_ZERO + np.int64(np.rint(mean / chances)) if all_proven else np.int64(0)
    return best if all_proven or best == PROOF_WON else np.int64(0)


@after_simulation.when(is_used)
def _prove_path(game, mode, tree, worker, simulation, visits):
    """What follows from a proven end of the path for the nodes above it."""
    path, movers = simulation.path, simulation.movers
    last = simulation.journal[DEPTH] - 1
    if load(tree.proofs, path[last]) == 0:
        return
    for position in range(last - 1, -1, -1):
        node = path[position]
        if load(tree.proofs, node) != 0:
            continue
        proof = proof_from_children(tree, node)
        if proof == 0:
            return
        if movers[position] != movers[position + 1]:
            proof = 2 * PROOF_ZERO - proof  # what one wins the other loses
        store(tree.proofs, node, proof)
