"""Every scheme finds the truth where the truth is known, at a stated budget."""

import random
from functools import lru_cache

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


REPEATS = 20
PLAIN_BUDGET = 400


@lru_cache
def plain_shares(columns: str) -> tuple[float, ...]:
    """The share of visits of each column in the plain UCT of tests/reference, averaged over seeds."""
    game = distmcts.load_game("connect_four")
    shares = [0.0] * 7
    for seed in range(REPEATS):
        for move, (visits, _) in mcts.search(game, game.parse(columns), PLAIN_BUDGET, 2**0.5, random.Random(seed)).items():
            shares[move] += visits / PLAIN_BUDGET / REPEATS
    return tuple(shares)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_agrees_with_the_plain_search(scheme):
    # Two trees of the plain budget, or its leaves with two playouts each; everything else with one worker, like the plain one.
    is_double = scheme in ("root", "leaf")
    budget = PLAIN_BUDGET * (2 if is_double else 1)
    shares = [0.0] * 7
    settings = {**SCHEMES[scheme], "workers": 2 if is_double else 1}
    with distmcts.Engine("connect_four", "44", memory="8MiB", seed=7, **settings) as engine:
        for _ in range(REPEATS):
            engine.set_position("44")
            for row in engine.search(simulations=budget).moves:
                shares[row.move] += row.visits / budget / REPEATS
    assert shares == pytest.approx(plain_shares("44"), abs=0.1 if scheme == "leaf" else 0.05)
