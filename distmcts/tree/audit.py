"""The proof that nothing was lost: the conservation laws of a tree at rest, checked node by node.

1. Every node is reached once, lies inside the allocated part, and no two children of a node have the same move.
2. visits = 1 + extra + the children's visits (without the 1 for the root), for every node.
3. Nothing is in flight, no lock is held, every worker is idle.
4. No value sum is larger than its visits allow.
"""

from typing import NamedTuple

import numpy as np

from distmcts.errors import DistmctsError
from distmcts.kernels.layout import (
    GLOBAL_LOCK,
    IDLE,
    ROOT,
    SCALE,
    STAGE,
    Shared,
    Tree,
    Worker,
    in_flight_in,
    visits_in,
)
from distmcts.tree.view import columns, levels, moves_of, nodes_used


class AuditError(DistmctsError):
    """A tree broke a conservation law."""


class Audit(NamedTuple):
    nodes: int  # reachable
    visits: int  # of the root
    depth: int
    problems: tuple[str, ...]

    def check(self) -> "Audit":
        """Itself, or an AuditError that says what is wrong."""
        if self.problems:
            raise AuditError("; ".join(self.problems))
        return self


def audit_tree(tree: Tree) -> Audit:
    fields = columns(tree)
    visits = visits_in(fields.counts)
    problems: list[str] = []
    seen = np.zeros(visits.size, bool)
    limit = nodes_used(tree)

    def report(what: str, nodes: np.ndarray) -> None:
        if nodes.size and len(problems) < 10:
            problems.append(f"{what}: {nodes.size} nodes, the first is node {int(nodes[0])}")

    reached = 0
    depth = 0
    above: np.ndarray | None = None
    for nodes, parents in levels(tree):
        inside = (nodes >= 0) & (nodes < limit)
        report("beyond the allocated part", nodes[~inside])
        if not inside.all():
            break
        twice = seen[nodes] | (np.bincount(nodes, minlength=1)[nodes] > 1)
        report("reached twice", nodes[twice])
        if twice.any():
            break
        seen[nodes] = True
        if above is not None:
            _check_family(fields, visits, tree, above, nodes, parents, depth == 1, report)
        report("in flight at rest", nodes[in_flight_in(fields.counts[nodes]) != 0])
        if depth:
            report("without a move", nodes[moves_of(tree, nodes) < 0])
        too_much = np.abs(fields.value_sum[nodes].astype(float)) > visits[nodes].astype(float) * SCALE
        report("value sum beyond visits", nodes[too_much])
        reached += nodes.size
        depth += 1
        above = nodes
    if above is not None and not problems:
        nobody = np.empty(0, np.int64)
        _check_family(fields, visits, tree, above, nobody, nobody, depth == 1, report)
    report("lock held", np.flatnonzero(tree.locks))
    return Audit(reached, int(visits[ROOT]), depth, tuple(problems))


def _check_family(fields, visits, tree, above, nodes, parents, above_is_root, report) -> None:
    """Visits of one level against those of the next, and moves of siblings against each other."""
    sums = np.zeros(above.size, np.int64)
    np.add.at(sums, parents, visits[nodes])
    own = visits[above] - sums - (0 if above_is_root else 1)
    wrong = (own - tree.extra[above]) % (1 << 32) != 0  # `extra` wraps around
    report("visits are not evaluations + children's visits", above[wrong])
    family = np.stack([parents, moves_of(tree, nodes)], axis=1)
    _, index = np.unique(family, axis=0, return_index=True)
    report("same move as a sibling", np.delete(nodes, index))


def is_idle(worker: Worker) -> bool:
    """Whether none of a worker's simulations is under way."""
    return bool((worker.simulations.journal[:, STAGE] == IDLE).all())


def audit_workers(shared: Shared, workers: list[Worker]) -> list[str]:
    problems = [f"worker {i} is not idle" for i, worker in enumerate(workers) if not is_idle(worker)]
    if shared.control[GLOBAL_LOCK] != 0:
        problems.append(f"the global lock is held by worker {int(shared.control[GLOBAL_LOCK]) - 1}")
    return problems
