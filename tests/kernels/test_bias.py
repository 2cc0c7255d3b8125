"""Progressive bias: children carry the evaluation after their move, and it decides while little else is known."""

import pytest

import distmcts
from distmcts.tree import view

AWALE = distmcts.load_game("awale")
POSITION = AWALE.parse("1,1,4,3,5,6/1,2,2,1,1,1 10-10 0")  # three moves capture


def hinted(move: int) -> float:
    """What a move is worth to its player by the evaluation."""
    return AWALE.evaluate(AWALE.apply(POSITION, move))[AWALE.player(POSITION)]


def test_a_child_carries_the_evaluation_after_its_move():
    with distmcts.Engine(AWALE, POSITION, progressive_bias=1.0, parallel="serial", memory="8MiB", seed=2) as engine:
        engine.run(simulations=500)
        tree = engine.trees[0]
        children = view.children(tree)
        assert len({hinted(child.move) for child in children}) > 2
        for child in children:
            assert tree.hints[child.node] == pytest.approx(hinted(child.move), abs=1e-6)
        engine.audit()


@pytest.mark.parametrize(
    "scheme", [{"parallel": "serial"}, {"parallel": "tree", "workers": 2}], ids=lambda scheme: scheme["parallel"]
)
def test_a_heavy_hint_decides_and_a_light_one_fades(scheme):
    """If nothing but k * H / (n + 1) counts, visits come to be in proportion to the hints that are above 0."""
    hints = {move: hinted(move) for move in AWALE.legal_moves(POSITION)}
    best = max(hints, key=hints.get)
    simulations = 3000
    visits = {}
    for weight in (1e-6, 1e6):
        with distmcts.Engine(AWALE, POSITION, progressive_bias=weight, c=50.0, memory="8MiB", seed=2, **scheme) as engine:
            visits[weight] = {row.move: row.visits for row in engine.search(simulations=simulations).moves}
            engine.audit()
    for move, hint in hints.items():
        assert visits[1e6][move] / simulations == pytest.approx(hint / sum(hints.values()), abs=0.01)
    assert visits[1e-6][best] < 0.3 * simulations  # c so large that all moves get about the same


def test_without_an_evaluation_it_is_refused():
    with pytest.raises(distmcts.InputError, match=r"progressive_bias=1.0: hex has no evaluation to ask for it"):
        distmcts.Engine("hex", progressive_bias=1.0)


def test_random_selection_looks_at_no_hint():
    with pytest.raises(distmcts.InputError, match="progressive_bias: has no meaning with selection='random'"):
        distmcts.Engine(AWALE, progressive_bias=1.0, selection="random")
