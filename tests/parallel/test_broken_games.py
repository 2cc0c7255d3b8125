"""A game that breaks the contract ends the search with one clear error, and leaves nothing behind."""

import os

import psutil
import pytest

import distmcts
from distmcts.errors import GameError
from tests.support import broken_games

BROKEN = [
    ("NoMovesButNotOver", "nim: no legal moves, but not over, in position '5 "),
    ("StrangeMoveLater", "nim: a move is outside 0 to 3 - 1 in position '5 "),
    ("NegativeMoveLater", "nim: a move is outside 0 to 3 - 1 in position '5 "),
    ("MoreMovesThanSaid", "nim: writes beyond the end of a buffer: more than max_moves=2 or max_outcomes=1 in position 'a "),
    ("ProbabilitiesOverOne", "nim: probabilities do not sum to 1 in position '5 "),
    ("WritesBehindItsState", "nim: wrote beyond the end of its buffer for state in a search from position 'a 0'"),
]


def segments() -> list[str]:
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"distmcts-{os.getpid()}-")]


def search_broken(name: str, parallel: str) -> str:
    """What the error of a search says; checks that the engine is at rest after it, and that nothing is left when it is closed."""
    game = getattr(broken_games, name)()
    backing = "named" if parallel in ("tree", "root", "leaf") else "auto"
    before = set(psutil.Process().children())
    with distmcts.Engine(game, parallel=parallel, workers=2, memory="4MiB", backing=backing, seed=1) as engine:
        for _ in range(2):  # the second search meets it too: nothing of the first is in its way
            with pytest.raises(GameError) as caught:
                engine.search(simulations=20_000)
            engine.audit()
    assert set(psutil.Process().children()) <= before
    assert segments() == []
    return str(caught.value)


@pytest.mark.parametrize(("name", "message"), BROKEN, ids=[name for name, _ in BROKEN])
def test_the_search_says_what_is_wrong_and_where(name, message):
    assert message in search_broken(name, "serial")


@pytest.mark.parametrize(
    ("parallel", "name"),
    [
        ("tree", "NoMovesButNotOver"),
        ("root", "NoMovesButNotOver"),
        ("leaf", "NoMovesButNotOver"),
        pytest.param("leaf", "ProbabilitiesOverOne", marks=pytest.mark.long),
        ("simulated", "ProbabilitiesOverOne"),
    ],
)
def test_so_it_does_under_every_scheme(name, parallel):
    assert dict(BROKEN)[name] in search_broken(name, parallel)


def test_a_playout_without_end_is_found():
    message = search_broken("NeverEnds", "tree")
    assert "nim: a playout does not end; it is in position 'a " in message
