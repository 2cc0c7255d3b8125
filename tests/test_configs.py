"""The configurations in configs/ are what they say: known keys, allowed values, a game that can be searched like that."""

from pathlib import Path

import pytest
import yaml

from distmcts.budget import make_budget
from distmcts.demands import check_settings, features_of
from distmcts.kernels.features import FEATURES
from distmcts.registry import load_game
from distmcts.settings import SEARCH_KEYS, make_settings

CONFIGS = Path(__file__).parents[1] / "configs"
SEARCHES = [
    *sorted(CONFIGS.glob("feature_*.yaml")),
    *sorted(CONFIGS.glob("search_*.yaml")),
    CONFIGS / "ur_strong.yaml",
    CONFIGS / "risk_features.yaml",
]


def read(path: Path):
    content = yaml.safe_load(path.read_text())
    own = {key: content.pop(key) for key in SEARCH_KEYS if key in content}
    game = load_game(own["game"], **own.get("game_parameters", {}))
    return own, game, make_settings(**content)


@pytest.mark.parametrize("path", SEARCHES, ids=lambda path: path.stem)
def test_a_search_can_be_made_of_it(path):
    own, game, settings = read(path)
    check_settings(game, settings)
    assert own.keys() & {"simulations", "seconds"}
    make_budget(own.get("simulations"), own.get("seconds"))
    if "position" in own:
        assert not game.is_over(game.parse(own["position"]))
    assert f"--config configs/{path.name}" in path.read_text()  # says how it is run


def test_every_feature_has_one():
    of_games = {"ranks", "python"}  # what a game brings needs no setting
    shown = set()
    for path in CONFIGS.glob("feature_*.yaml"):
        _, game, settings = read(path)
        shown |= {feature.name for feature in features_of(game, settings)}
    assert shown >= {feature.name for feature in FEATURES} - of_games
