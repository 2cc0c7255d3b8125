"""Looking at what workers do: shares of the stages, without touching the search."""

import pytest

import distmcts

STAGES = {"select", "expand", "playout", "backup", "waiting"}


def shares(game="connect_four", simulations=200_000, **settings):
    with distmcts.Engine(game, memory="64MiB", seed=1, **settings) as engine:
        engine.search(simulations=1000)
        with engine.sampler() as sampler:
            result = engine.search(simulations=simulations)
        assert result.simulations == simulations
        engine.audit()
        return sampler.shares()


@pytest.mark.parametrize("parallel", ["serial", "leaf", "root", "tree", "simulated"])
def test_every_scheme_is_seen(parallel):
    found = shares(parallel=parallel, workers=2)
    assert set(found) == STAGES and sum(found.values()) == pytest.approx(1.0)
    assert found["playout"] > 0 and found["select"] > 0


def test_long_playouts_are_seen_as_such():
    assert shares("othello", 20_000, parallel="serial")["playout"] > shares("connect_four", parallel="serial")["playout"]


def test_only_those_who_can_wait_do():
    assert shares(parallel="serial")["waiting"] == 0
    assert shares(parallel="tree", workers=2)["waiting"] == 0
    assert shares(parallel="tree", workers=4, synchronisation="global-lock", simulations=400_000)["waiting"] > 0


def test_nothing_seen_is_nothing_said():
    with distmcts.Engine("connect_four", parallel="serial", memory="1MiB") as engine:
        assert engine.sampler().shares() == {}
