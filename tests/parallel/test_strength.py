"""Every scheme finds the truth where the truth is known, at a stated budget."""

import pytest

import distmcts
from tests.reference import mcts
from tests.reference import tic_tac_toe as rules
from tests.reference.positions import AWALE_ENDGAMES, CONNECT_FOUR_ONLY_MOVES

SCHEMES = {
    "serial": {"parallel": "serial"},
    "tree": {"parallel": "tree", "workers": 2},
    "tree-wu-uct": {"parallel": "tree", "workers": 4, "in_flight": "wu_uct"},
    "tree-node-locks": {"parallel": "tree", "workers": 2, "synchronisation": "node-locks"},
    "tree-global-lock": {"parallel": "tree", "workers": 2, "synchronisation": "global-lock"},
    "tree-threads": {"parallel": "tree", "workers": 2, "backend": "thread"},
    "root": {"parallel": "root", "workers": 2},
    "leaf": {"parallel": "leaf", "workers": 2},
    "simulated": {"parallel": "simulated", "workers": 32},
}
CONNECT_FOUR_BUDGET = 50_000
AWALE_BUDGET = 400_000
TIC_TAC_TOE_BUDGET = 2_000


@pytest.mark.parametrize("scheme", SCHEMES)
def test_connect_four_only_moves(scheme):
    wrong = []
    with distmcts.Engine("connect_four", memory="128MiB", seed=1, **SCHEMES[scheme]) as engine:
        for position in CONNECT_FOUR_ONLY_MOVES:
            engine.set_position(position.columns)
            result = engine.search(simulations=CONNECT_FOUR_BUDGET)
            if result.best_move != position.winning_column - 1:
                wrong.append(position)
    assert len(CONNECT_FOUR_ONLY_MOVES) >= 20
    assert wrong == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_awale_endgames(scheme):
    wrong = []
    with distmcts.Engine("awale", memory="128MiB", seed=1, **SCHEMES[scheme]) as engine:
        for endgame in AWALE_ENDGAMES:
            rows = ",".join(map(str, endgame.pits[:6])), ",".join(map(str, endgame.pits[6:]))
            engine.set_position(f"{rows[0]}/{rows[1]} {endgame.captures[0]}-{endgame.captures[1]} {endgame.mover}")
            # Most are found in the first part; about one search in 40 of the hardest needs more.
            if not any(engine.search(simulations=AWALE_BUDGET // 4).best_move in endgame.best_moves for _ in range(4)):
                wrong.append(endgame)
    assert len(AWALE_ENDGAMES) >= 20
    assert wrong == []


@pytest.mark.parametrize("scheme", ["serial", "tree", "root", "leaf", "simulated"])
def test_connect_four_opens_in_the_centre(scheme):
    """At 1 M simulations, with much exploration. With c = sqrt 2 plain UCT still wavers between columns 2 to 6 there."""
    result = distmcts.search("connect_four", simulations=1_000_000, c=5.0, memory="512MiB", seed=1, **SCHEMES[scheme])
    assert result.best_move == 3
    assert result.moves[0].visits > 500_000


@pytest.mark.parametrize("scheme", ["serial", "tree", "root", "leaf", "simulated"])
@pytest.mark.parametrize("side", [0, 1])
def test_tic_tac_toe_is_never_lost(scheme, side):
    """Against every possible reply, not only good ones."""
    answers: dict[str, int] = {}
    with distmcts.Engine("tic_tac_toe", memory="8MiB", seed=1, **SCHEMES[scheme]) as engine:

        def answer(state: str) -> int:
            if state not in answers:
                engine.set_position("/".join(state[row : row + 3] for row in (0, 3, 6)))
                answers[state] = engine.search(simulations=TIC_TAC_TOE_BUDGET).best_move
            return answers[state]

        open_positions = [rules.START]
        finished = set()
        while open_positions:
            state = open_positions.pop()
            if rules.is_over(state):
                finished.add(state)
                continue
            moves = [answer(state)] if rules.player(state) == side else rules.legal_moves(state)
            open_positions += [rules.apply(state, move) for move in moves]
    assert len(finished) > 20
    assert all(rules.returns(state)[side] >= 0 for state in finished)


def test_leaf_search_visits_moves_like_the_plain_search():
    """Its leaves have two playouts each. (What other schemes do is compared node for node, in tests/reference.)"""
    leaves, repeats = 400, 40
    game = distmcts.load_game("connect_four")
    shares, plain_shares = [0.0] * 7, [0.0] * 7
    with distmcts.Engine(game, "44", memory="8MiB", seed=7, parallel="leaf", workers=2) as engine:
        for seed in range(repeats):
            engine.set_position("44")
            for row in engine.search(simulations=2 * leaves).moves:
                shares[row.move] += row.visits / (2 * leaves) / repeats
            for child in mcts.Search(game, game.parse("44"), seed).run(leaves).children:
                plain_shares[child.move] += child.visits / leaves / repeats
    assert shares == pytest.approx(plain_shares, abs=0.1)
