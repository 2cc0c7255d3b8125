"""Risk for two players without cards, the host side: parameters, positions and moves as text, pictures.

The rules, as the paper on sampled expansion has them: the 42 territories of the classic map are dealt at random, player 0 first,
and 60 armies each go round them in the order of the deal, so that every territory holds two or three. A turn is: recruit
max(3, territories / 3) troops and what whole continents bring; attack as often as wanted, each time one throw with as many
dice as both sides may; after a conquest move in at least one troop, and leave at least one behind; at the end move troops once
between two territories that are connected by own ones. Who holds the world has won. A game that lasts for `turns` turns, both
players' counted, is won by who holds more territories, and drawn at 21 each.

Games by the playout policy last for 55 turns, one in 20,000 for 200. Of uniformly random ones half reach the limit of 300, in
steps one in eight; none has more than some 5,000 moves.

  risk_map.py      the map, sets of territories        risk_rules.py     whole moves      risk_text.py     positions as text
  risk_dice.py     throws and battles                  risk_steps.py     moves in steps   risk_moves.py    names of moves
  risk_recruit.py  recruitments as numbers             risk_policy.py    playouts         risk_picture.py  the map drawn
  risk_state.py    the position, what both have alike  risk_evaluate.py  evaluations      risk_fit.py      the weights' origin
"""

from typing import Any

import numpy as np

from distmcts.errors import InputError, unknown
from distmcts.game import CompiledGame, Rules, State
from distmcts.kernels.referee import draw_outcomes
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import move_count
from games import risk_rules, risk_steps
from games.risk_evaluate import FEATURES, WEIGHTS, evaluate_border, evaluate_features, evaluate_resource
from games.risk_map import TERRITORIES
from games.risk_moves import name_of_move, name_of_step, ranked_move
from games.risk_picture import picture
from games.risk_policy import policy_playout, policy_step, policy_step_in_steps
from games.risk_state import DEAL, PHASE, STATE_WORDS, chance_outcomes, initial, player, returns, sample_outcome
from games.risk_text import draw_position, format_position, parse_position

EVALUATIONS = {"resource": evaluate_resource, "border": evaluate_border, "features": evaluate_features}
MOST_TURNS = 1000
MOST_SEED = 2**64 - 1


class Risk(CompiledGame):
    """Risk for two players, no cards. Parameters: actions ("full" or "steps"), playout, evaluation, weights, turns."""

    name = "risk"
    rules = Rules(
        initial,
        risk_rules.legal_moves,
        risk_rules.apply,
        player,
        returns,
        chance_outcomes=chance_outcomes,
        sample_outcome=sample_outcome,
        move_count=risk_rules.move_count,
        rave_key=risk_rules.rave_key,
    )
    state_words = STATE_WORDS
    max_outcomes = TERRITORIES
    perft_counts = (42, 42 * 41, 42 * 41 * 40)  # of the deal

    def __init__(
        self,
        actions: str = "full",
        playout: str = "policy",
        evaluation: str = "features",
        weights: dict[str, float] | None = None,
        turns: int = 300,
    ):
        for key, value, allowed in (
            ("actions", actions, ("full", "steps")),
            ("playout", playout, ("uniform", "policy")),
            ("evaluation", evaluation, EVALUATIONS),
        ):
            if value not in allowed:
                raise unknown(key, value, allowed)
        if not isinstance(turns, int) or isinstance(turns, bool) or not 1 <= turns <= MOST_TURNS:
            raise InputError(f"turns={turns!r}: must be a whole number from 1 to {MOST_TURNS}")
        self.weights = np.array(list(_weights(weights).values()))
        super().__init__(actions=actions, playout=playout, evaluation=evaluation, weights=weights, turns=turns)
        self.turns = turns
        self.in_steps = actions == "steps"
        self.max_moves = self.move_limit = risk_rules.MAX_MOVES
        rules = self.rules._replace(evaluate=EVALUATIONS[evaluation])
        if self.in_steps:
            self.max_moves = self.move_limit = risk_steps.STEP_MOVES
            rules = rules._replace(
                legal_moves=risk_steps.legal_moves,
                apply=risk_steps.apply,
                move_count=move_count.default,
                rave_key=risk_steps.rave_key,
            )
        if playout == "policy":
            step = policy_step_in_steps if self.in_steps else policy_step
            rules = rules._replace(playout=policy_playout, playout_step=step)
        self.rules = rules

    @property
    def rave_keys(self) -> int:
        return risk_steps.STEP_RAVE_KEYS if self.in_steps else risk_rules.RAVE_KEYS

    def deal(self, seed: int) -> State:
        """The position after the deal that a seed gives."""
        state = self.initial_state()
        rng, drawn = seeded(seed, 0), np.zeros(1, np.int64)
        while state[PHASE] == DEAL:
            draw_outcomes(self, state, drawn, rng)
            state = self.apply(state, int(drawn[0]))
        return state

    def format(self, state: State) -> str:
        """The territories by continent, then whose turn it is and what is to be decided; risk_text.py says how."""
        return format_position(state)

    def parse(self, text: str) -> State:
        """A position as `format` writes it, or "deal SEED"."""
        word, _, seed = text.strip().lower().partition(" ")
        if word == "deal":
            if not seed.strip().isdecimal() or int(seed) > MOST_SEED:
                raise InputError(f"risk position {text!r}: expected a whole number from 0 to {MOST_SEED} after 'deal'")
            return self.deal(int(seed))
        return self.state(parse_position(text, self.turns, self.in_steps))

    def draw(self, state: State) -> str:
        return draw_position(state)

    def svg(self, state: State) -> str:
        return picture(state)

    def move_name(self, state: State, move: int) -> str:
        return name_of_step(state, move) if self.in_steps else name_of_move(state, move)

    def parse_move(self, state: State, text: str) -> int:
        """A legal move by its name or number, even where moves are too many to list: "recruit 3 Alaska, 4 Brazil"."""
        move = None if self.in_steps else ranked_move(state, text)
        return super().parse_move(state, text) if move is None else move


def _weights(given: Any) -> dict[str, float]:
    """The weights of all features; those not given keep their default."""
    if given is None:
        return WEIGHTS
    if not isinstance(given, dict):
        raise InputError(f"weights={given!r}: must be 'feature: number' pairs")
    for name, weight in given.items():
        if name not in FEATURES:
            raise unknown("feature in weights", name, FEATURES)
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not abs(weight) <= 1e6:
            raise InputError(f"weights: {name}={weight!r} is not a number from -1000000 to 1000000")
    return {name: float(given.get(name, weight)) for name, weight in WEIGHTS.items()}
