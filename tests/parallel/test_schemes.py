"""A scheme is one class: from its definition on it can be asked for by its name."""

import pytest

import distmcts
from distmcts.kernels.simulate import run_worker
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.schemes import SCHEMES
from distmcts.parallel.workers import Loop
from tests.support.trees import equal, trees_of


@pytest.fixture
def one_by_one():
    """A scheme whose workers have trees of their own, and take one ticket at a time from the common heap."""

    class OneByOne(Scheme):
        name = "one_by_one"
        has_many_trees = True
        choices = ("backend",)

        def loop(self, index: int) -> Loop:
            arguments = (self.game, self.mode, self.trees[index], self.workers[index], self.shared, self.settings, 1)
            return lambda length: run_worker(*arguments, length)

    yield OneByOne.name
    del SCHEMES[OneByOne.name]


def test_a_new_scheme_searches_like_any_other(one_by_one):
    with distmcts.Engine("connect_four", parallel=one_by_one, workers=2, memory="32MiB", seed=3) as engine:
        result = engine.search(simulations=20_000)
        engine.audit()
        engine.advance(result.best_move)
        engine.search(simulations=5_000)
        engine.audit()
    assert result.simulations == 20_000
    assert f"{one_by_one}, 2 workers" in str(result)


def test_with_one_worker_it_is_serial_search(one_by_one):
    assert equal(
        trees_of("connect_four", 5_000, parallel=one_by_one, workers=1, seed=3),
        trees_of("connect_four", 5_000, parallel="serial", seed=3),
    )


def test_a_scheme_that_is_not_there_is_answered_with_those_that_are(one_by_one):
    with pytest.raises(distmcts.InputError, match="unknown parallel 'one_by_on'.*one_by_one"):
        distmcts.Engine("connect_four", parallel="one_by_on")
