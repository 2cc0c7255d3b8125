"""Random selection: all children alike, so that values are those of random play."""

import math

import pytest

import distmcts
from distmcts.tree import view

FIRST_PLAYER = 0.584921 - (1 - 0.584921 - 0.126984)  # tic-tac-toe, both at random: wins - losses


@pytest.mark.parametrize(
    "scheme", [{"parallel": "serial"}, {"parallel": "tree", "workers": 2}], ids=lambda scheme: scheme["parallel"]
)
def test_values_are_those_of_random_play(scheme):
    simulations = 200_000
    with distmcts.Engine("tic_tac_toe", selection="random", memory="16MiB", seed=4, **scheme) as engine:
        engine.search(simulations=simulations)
        engine.audit()
        children = view.children(engine.trees[0])
    value = sum(child.value * child.visits for child in children) / sum(child.visits for child in children)
    assert value == pytest.approx(FIRST_PLAYER, abs=5 / math.sqrt(simulations))
    even = simulations / 9
    assert sum((child.visits - even) ** 2 / even for child in children) < 30  # chi-square with 8 degrees of freedom: 1 in 5,000


@pytest.mark.parametrize("key", ["first_play_urgency", "rave", "solver"])
def test_what_needs_scores_is_refused(key):
    with pytest.raises(distmcts.InputError, match=f"{key}: has no meaning with selection='random', which looks at no score"):
        distmcts.Engine("connect_four", selection="random", **{key: True if key == "solver" else 1.0})
