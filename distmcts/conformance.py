"""The public test of a game: does it keep the contract of distmcts/game.py?

    distmcts games check NAME          or          conformance.check(game)

Random games are played with the compiled rules, and the same ones with the rules as plain Python in a process of its own.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from distmcts.errors import DistmctsError, GameError
from distmcts.game import CompiledGame, Game
from distmcts.kernels import referee
from distmcts.kernels.layout import MAX_PLAYERS
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import CHANCE, OVER
from distmcts.registry import load_game

MAX_LENGTH = 100_000  # moves; a game that goes on for longer does not end
NO_END = "a random game did not end"
GUARD = 4096  # elements behind each buffer that must stay as they are
PERFT_LIMIT = 300_000
PYTHON_GAMES = 20
DRAWS = 2000  # of one chance event


class Check(NamedTuple):
    name: str
    passed: bool
    detail: str


def check(game: Game, games: int = 200, seed: int = 1) -> list[Check]:
    """Run all checks; blocks for some seconds. A check that fails says where."""
    if game.in_python:
        # Clones first: where they are not independent, one game spoils the start of the next.
        return [
            _run("clones are independent", lambda: _clones(game, games, seed)),
            _run("random games end, moves are legal", lambda: _random_games(game, games, seed)),
        ]
    # First of all, and alone if it fails: what overruns its buffers would overrun those of the other checks.
    buffers = _run("buffers are not overrun", lambda: _buffers(game, games, seed))
    if not buffers.passed:
        return [buffers]
    # A game that does not end would keep a compiled playout busy for ever.
    random_games = _run("random games end, moves are legal", lambda: _random_games(game, games, seed))
    if NO_END in random_games.detail:
        return [buffers, random_games]
    steps: list[tuple[str, Callable[[], str]]] = [
        ("apply is pure", lambda: _purity(game, games, seed)),
        ("playouts end the game", lambda: _playouts(game, games, seed)),
        ("outcomes come as often as they are likely", lambda: _chance(game, games, seed)),
        ("positions are written and read back", lambda: _round_trip(game, games, seed)),
        ("Python body equals compiled body", lambda: _python_body(game, seed)),
        ("perft", lambda: _perft(game)),
    ]
    return [buffers, random_games, *(_run(name, step) for name, step in steps)]


def _run(name: str, step: Callable[[], str]) -> Check:
    try:
        return Check(name, True, step())
    except DistmctsError as error:
        return Check(name, False, str(error))
    except Exception as error:  # a game may raise anything; it is the game that failed, not the check
        return Check(name, False, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def random_game(game: Game, chooser: random.Random) -> Iterator[tuple[np.ndarray, int, list[int], list[float]]]:
    """Every position of a random game: state, player, legal moves, results."""
    state = game.initial_state()
    for _ in range(MAX_LENGTH):
        player, moves, results = game.look(state)
        yield state, player, moves, results
        if player == OVER:
            return
        if not moves:
            raise GameError(f"{game.name}: no legal moves but not over in {game.format(state)!r}")
        if player == CHANCE:
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            state = game.apply(state, chooser.choices(outcomes, chances)[0])
        else:
            state = game.apply(state, chooser.choice(moves))
    raise GameError(f"{game.name}: {NO_END} within {MAX_LENGTH} moves")


def _random_games(game: Game, games: int, seed: int) -> str:
    chooser = random.Random(seed)
    positions = 0
    for _ in range(games):
        for state, player, moves, results in random_game(game, chooser):
            positions += 1
            where = game.format(state)
            if player == CHANCE:
                _check_outcomes(game, state, where)
            elif player != OVER and not 0 <= player < game.players:
                raise GameError(f"player {player} of {game.players} is to move in {where!r}")
            elif isinstance(moves, list) and not _are_moves(moves, game.move_limit):
                raise GameError(f"moves repeat or are outside 0 to {game.move_limit - 1} in {where!r}: {moves}")
            if any(not -1 <= result <= 1 for result in results):
                raise GameError(f"results outside -1 to 1 in {where!r}: {results}")
    return f"{games} games, {positions} positions"


def _are_moves(moves: list[int], limit: int) -> bool:
    return len(set(moves)) == len(moves) and all(0 <= move < limit for move in moves)


def _check_outcomes(game: Game, state: np.ndarray, where: str) -> None:
    if not game.has_chance:
        raise GameError(f"chance is to move in {where!r}, but the game has no sample_outcome")
    outcomes = game.chance_outcomes(state)
    if len({outcome for outcome, _ in outcomes}) != len(outcomes) or any(outcome < 0 for outcome, _ in outcomes):
        raise GameError(f"outcomes repeat or are negative in {where!r}: {outcomes}")
    if any(not 0 < chance <= 1 for _, chance in outcomes) or abs(sum(chance for _, chance in outcomes) - 1) > 1e-9:
        raise GameError(f"probabilities do not sum to 1 in {where!r}: {outcomes}")


def _chance(game: CompiledGame, games: int, seed: int) -> str:
    """sample_outcome against chance_outcomes: how often each outcome comes, within six standard deviations."""
    if not game.has_chance:
        return "the game has no chance events"
    chooser = random.Random(seed)
    rng = seeded(seed, 0)
    drawn = np.zeros(DRAWS, np.int64)
    events = 0
    for _ in range(max(1, games // 50)):
        for state, player, *_ in random_game(game, chooser):
            if player != CHANCE or chooser.random() > 0.2:
                continue
            events += 1
            referee.draw_outcomes(game, state, drawn, rng)
            chances = dict(game.chance_outcomes(state))
            if strange := set(drawn.tolist()) - chances.keys():
                raise GameError(f"outcome {min(strange)} is drawn in {game.format(state)!r}, but is none of {sorted(chances)}")
            for outcome, chance in chances.items():
                found = int((drawn == outcome).sum())
                if abs(found - DRAWS * chance) > 6 * (DRAWS * chance * (1 - chance)) ** 0.5 + 1:
                    where = game.format(state)
                    raise GameError(f"outcome {outcome} came {found} times in {DRAWS} in {where!r}, not at {chance:g}")
    return f"{events} events, {DRAWS} draws each"


def _buffers(game: CompiledGame, games: int, seed: int) -> str:
    """The arrays a game gets are parts of larger ones; what lies behind them must not change."""
    chooser = random.Random(seed)
    states = np.full(game.state_words + GUARD, 0xA5A5A5A5A5A5A5A5, np.uint64)
    moves = np.full(game.list_length + GUARD, -77, np.int64)
    chances = np.full(game.max_outcomes + GUARD, -7.7)
    results = np.full(game.players + GUARD, -7.7)
    state, buffer, likely, rewards = states[:-GUARD], moves[:-GUARD], chances[:-GUARD], results[:-GUARD]
    all_arrays = (("state", states, 0xA5A5A5A5A5A5A5A5), ("moves", moves, -77), ("probabilities", chances, -7.7))
    played = 0
    while played < games:
        played += 1
        state[:] = 0
        referee.begin(game, state)
        for _ in range(MAX_LENGTH):
            player, count = referee.look(game, state, buffer, likely, rewards)
            limit = game.max_outcomes if player == CHANCE else game.max_moves
            if count > limit and (player == CHANCE or not game.has_ranks):
                what = f"{count} outcomes, max_outcomes" if player == CHANCE else f"{count} moves, max_moves"
                raise GameError(f"{game.name} writes beyond the end of its moves buffer: {what} is {limit}")
            if player == OVER or count == 0:
                break
            chosen = chooser.randrange(count)
            referee.play(game, state, buffer[chosen] if count <= limit else chosen)
        else:
            games = 0  # it does not end, which the next check will say
        for name, array, value in (*all_arrays, ("rewards", results, -7.7)):
            if not (array[-GUARD:] == value).all():
                raise GameError(f"{game.name} writes beyond the end of its {name} buffer")
    return f"{played} games"


def _purity(game: CompiledGame, games: int, seed: int) -> str:
    """The same move in the same state gives the same state, and looking changes nothing."""
    chooser = random.Random(seed)
    pairs = 0
    for _ in range(max(1, games // 10)):
        for state, player, moves, _ in random_game(game, chooser):
            before = state.copy()
            if player == OVER:
                continue
            move = chooser.choice(moves)
            first, second = game.apply(state, move), game.apply(state, move)
            if not (first == second).all():
                raise GameError(f"move {move} in {game.format(state)!r} leads to two different states")
            if not (state == before).all():
                raise GameError(f"looking at or playing from {game.format(before)!r} changed it")
            pairs += 1
    return f"{pairs} moves"


def _clones(game: Game, games: int, seed: int) -> str:
    """A move made on a clone leaves the state as it was; made on two clones it leads to the same position."""
    chooser = random.Random(seed)
    count = 0
    for _ in range(max(1, games // 10)):
        for state, player, moves, results in random_game(game, chooser):
            if player == OVER:
                continue
            before = game.draw(state)
            move = chooser.choice(moves)
            first = game.apply(state, move)
            if game.look(state) != (player, moves, results) or game.draw(state) != before:
                raise GameError(f"move {move} on a clone changed the state itself, now {game.format(state)!r}")
            if game.look(first) != game.look(game.apply(state, move)):
                raise GameError(f"move {move} in {game.format(state)!r} leads to two different positions")
            count += 1
    return f"{count} moves"


def _playouts(game: CompiledGame, games: int, seed: int) -> str:
    rng = seeded(seed, 0)
    chooser = random.Random(seed)
    moves = np.zeros(game.list_length, np.int64)
    results, totals = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    count = 0
    for _ in range(max(1, games // 10)):
        for state, *_ in random_game(game, chooser):
            scratch = state.copy()
            referee.bare_playouts(game, state, scratch, moves, results, totals, rng, -1, 1)
            count += 1
            if game.player(scratch) != OVER:
                raise GameError(f"a playout from {game.format(state)!r} stopped before the end")
            if (np.abs(results[: game.players]) > 1).any():
                raise GameError(f"a playout from {game.format(state)!r} has results outside -1 to 1")
    return f"{count} playouts"


def _round_trip(game: CompiledGame, games: int, seed: int) -> str:
    chooser = random.Random(seed)
    count = 0
    for _ in range(max(1, games // 10)):
        for state, *_ in random_game(game, chooser):
            text = game.format(state)
            again = game.parse(text)
            if game.format(again) != text or game.look(again) != game.look(state):
                raise GameError(f"{text!r} is read back as {game.format(again)!r}")
            count += 1
    return f"{count} positions"


def digest(game: CompiledGame, games: int, seed: int) -> str:
    """One number for all that happens in some random games."""
    chooser = random.Random(seed)
    content = hashlib.sha256()
    with np.errstate(over="ignore"):
        for _ in range(games):
            for state, player, moves, results in random_game(game, chooser):
                chances = game.chance_outcomes(state)
                content.update(repr((state.tolist(), int(player), moves, chances, results)).encode())
                guess = game.evaluate(state) if player != OVER else None
                content.update(repr((int(referee.hash_state(game, state)), guess)).encode())
    return content.hexdigest()


def _python_body(game: CompiledGame, seed: int) -> str:
    request = json.dumps([f"{type(game).__module__}:{type(game).__qualname__}", game.parameters, PYTHON_GAMES, seed])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "distmcts.conformance", request]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if answer.returncode != 0:
        raise GameError(f"the rules fail as plain Python: {answer.stderr.strip().splitlines()[-1]}")
    if answer.stdout.strip() != digest(game, PYTHON_GAMES, seed):
        raise GameError("the rules as plain Python play differently from the compiled ones")
    return f"{PYTHON_GAMES} games"


def _perft(game: CompiledGame) -> str:
    if not game.perft_counts:
        return "the game gives no numbers"
    shown = []
    for depth, expected in enumerate(game.perft_counts, 1):
        if expected > PERFT_LIMIT:
            break
        found = game.perft(depth)
        if found != expected:
            raise GameError(f"perft({depth}) is {found}, should be {expected}")
        shown.append(str(found))
    return " ".join(shown)


def _answer(request: str) -> str:
    """The digest that another process asked for; there the compiler is off."""
    origin, parameters, games, seed = json.loads(request)
    module, _, name = origin.partition(":")
    game: Any = load_game(getattr(__import__(module, fromlist=[name]), name)(**parameters))
    return digest(game, games, seed)


if __name__ == "__main__":
    print(_answer(sys.argv[1]))
