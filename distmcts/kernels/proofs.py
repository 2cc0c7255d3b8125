"""What the steps of a simulation ask about proofs. Without the solver (solver.py) there are none, and asking costs nothing."""

from distmcts.kernels.jit import switch


@switch
def is_proven(mode, tree, node):
    """Whether the exact value of a node is known."""
    return False


@switch
def with_proof(mode, tree, child, score, open_only):
    """The score of a child in selection: a proven one has its value, and nothing to explore; none at all with `open_only`."""
    return score


@switch
def bind(mode, tree, simulation, child):
    """A visit meant for a proven child goes to another one: the node and those above it are credited with the proven value."""


@switch
def unbind(mode, simulation, position):
    """A node comes on the path, and no proof speaks for it yet."""


@switch
def reward_at(mode, simulation, position, visits):
    """What a node of the path is credited with in backup, which asks from the last to the root. tree/repair.py knows it too."""
    return simulation.rewards[simulation.movers[position]]


@switch
def carry_rewards(game, mode, simulation, carry):
    """What a simulation's visits, `carry[0]` of them, are worth to each player where nodes are given many at once (quotas.py)."""
    for player in range(game.players):
        carry[1 + player] = simulation.rewards[player]


@switch
def rebind(game, mode, simulation, position, carry):
    """What is carried up to a node of the path is worth what a proof there says."""


@switch
def settle(game, mode, tree, worker, simulation):
    """Whether the end of the path is proven, now or already; then `worker.results` are its value, and no playout is needed."""
    return False
