"""Simulations per second of games in Python: OpenSpiel's own search in Python, and distmcts through its adapter.

    python benchmarks/python_games.py [--games backgammon,chess] [--rounds 5] [--seconds 2] [--json FILE]

The same rules (OpenSpiel's, called from Python), c, position and kind of playout; like with like, twice:

    python playouts    one random move after the other from Python, on both sides
    C++ playouts       OpenSpiel's random rollout in C++, on both sides; its search in Python has no access to it but here

All take turns in every round, in an order that changes; ratios are medians of the rounds' ratios to OpenSpiel's search with the
same playouts. On a machine that others use, two workers may not get two cores, and then the rate says nothing about them: `cores`
is how many they got, and `/CPU s` how many simulations a second of processor time yields with two workers, compared with one.
`overhead` is what a simulation takes of a game whose own methods cost next to nothing. Needs the `interop` extra.
"""

import random
import statistics
import time

from script import add_games, chosen_games, need_open_spiel, options_of, write_json

C = 2**0.5
GAMES = {"backgammon": "backgammon", "chess": "chess", "connect_four": "connect_four"}
PLAYOUTS = ("python", "c++")
WORKERS = (1, 2)
LIST = 32  # simulations after which OpenSpiel's search is asked for the time


class Rollout:
    """An evaluator for OpenSpiel's search in Python that plays out in C++, as the adapter does."""

    def __init__(self, game, seed: int):
        from games.open_spiel import OpenSpielGame

        self._playout = OpenSpielGame(game).playout
        self._random = random.Random(seed)

    def evaluate(self, state):
        return self._playout(state.clone(), lambda: self._random.getrandbits(64))

    def prior(self, state):
        if state.is_chance_node():
            return state.chance_outcomes()
        moves = state.legal_actions()
        return [(move, 1.0 / len(moves)) for move in moves]


def start_of(name: str):
    """The start of a game, or the position after the first throw of dice."""
    import pyspiel

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return game, state


def their_rate(name: str, playout: str, seconds: float, seed: int) -> float:
    """OpenSpiel's search in Python, as many simulations as fit into the time; its tree is one from start to end."""
    import numpy as np
    from open_spiel.python.algorithms import mcts

    game, state = start_of(name)
    chance = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, chance) if playout == "python" else Rollout(game, seed)
    simulations = LIST
    while True:
        bot = mcts.MCTSBot(game, C, simulations, evaluator, solve=False, random_state=chance)
        start = time.perf_counter()
        bot.mcts_search(state)
        elapsed = time.perf_counter() - start
        if elapsed > 0.5 * seconds:
            return simulations / elapsed
        simulations = max(2 * simulations, int(0.8 * simulations * seconds / elapsed))


def our_rate(name: str, playout: str, workers: int, seconds: float, seed: int) -> tuple[float, float, float]:
    """Simulations a second; simulations a second of the workers' processor time; how many cores the workers got."""
    import psutil

    from distmcts import Engine
    from games.open_spiel import OpenSpielGame

    game, state = start_of(name)
    with Engine(OpenSpielGame(game, playout=playout), state, workers=workers, seed=seed, c=C, memory="512MiB") as engine:
        processes = [psutil.Process(pid) for pid in engine.worker_pids()]
        before = sum(sum(process.cpu_times()[:2]) for process in processes)
        result = engine.search(seconds=seconds)
        used = sum(sum(process.cpu_times()[:2]) for process in processes) - before
        return result.simulations_per_second, result.simulations / max(used, 0.01), used / result.elapsed_s


class Nothing:
    """A game that costs nothing: ten moves everywhere, over after twenty."""

    MOVES = tuple(range(10))

    def __init__(self, depth: int = 0):
        self.depth = depth

    def clone(self):
        return Nothing(self.depth)

    def current_player(self):
        return self.depth & 1

    def legal_actions(self):
        return self.MOVES

    def apply_action(self, action):
        self.depth += 1

    def is_terminal(self):
        return self.depth >= 20

    def returns(self):
        return (0.0, 0.0)


def overhead_us(rounds: int) -> float:
    """Microseconds a simulation, the game's own calls included; by the clock of this process alone."""
    from distmcts import Engine
    from distmcts.python_game import PythonGame

    game = PythonGame(Nothing(), playout=lambda state, random_word: (0.0, 0.0))
    found = []
    for seed in range(rounds):
        with Engine(game, parallel="serial", seed=seed, memory="128MiB") as engine:
            engine.search(simulations=1000)
            start = time.process_time()
            engine.search(simulations=50_000)
            found.append((time.process_time() - start) / 50_000 * 1e6)
    return statistics.median(found)


def compare(name: str, rounds: int, seconds: float) -> list[dict]:
    order = random.Random(1)
    sides = [(playout, workers) for playout in PLAYOUTS for workers in (0, *WORKERS)]  # 0 workers: OpenSpiel
    rates = {side: [] for side in sides}
    yields = {side: [] for side in sides}
    cores = {side: [] for side in sides}
    our_rate(GAMES[name], "c++", 1, 0.1, 0)  # compiled and loaded before anything is timed
    for turn in range(rounds):
        for playout, workers in order.sample(sides, len(sides)):
            if workers == 0:
                rate = their_rate(GAMES[name], playout, seconds, turn)
            else:
                rate, per_cpu_second, got = our_rate(GAMES[name], playout, workers, seconds, turn)
                yields[playout, workers].append(per_cpu_second)
                cores[playout, workers].append(got)
            rates[playout, workers].append(rate)
    rows = []
    for playout in PLAYOUTS:
        theirs = rates[playout, 0]
        row = {"game": name, "playout": playout, "open_spiel_per_s": statistics.median(theirs)}
        for workers in WORKERS:
            ours = rates[playout, workers]
            row[f"distmcts_{workers}_per_s"] = statistics.median(ours)
            row[f"ratio_{workers}"] = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        one, two = rates[playout, WORKERS[0]], rates[playout, WORKERS[1]]
        row["speedup"] = statistics.median(b / a for a, b in zip(one, two, strict=True))
        one, two = yields[playout, WORKERS[0]], yields[playout, WORKERS[1]]
        row["yield"] = statistics.median(b / a for a, b in zip(one, two, strict=True))
        row["cores"] = statistics.median(cores[playout, WORKERS[1]])
        rows.append(row)
    return rows


def main() -> None:
    parser = options_of(__doc__, rounds=5)
    add_games(parser, GAMES)
    parser.add_argument("--seconds", type=float, default=2.0, help="of one search")
    arguments = parser.parse_args()
    need_open_spiel()
    names = chosen_games(arguments, GAMES)
    print(f"{'':<14}{'':<10}{'OpenSpiel':>10}{'distmcts, 1 worker':>21}{'distmcts, 2 workers':>21}{'2 workers / 1 worker':>30}")
    head = ("game", "playouts", "/s", "/s", "ratio", "/s", "ratio", "cores", "rate", "/CPU s")
    print(
        f"{head[0]:<14}{head[1]:<10}{head[2]:>10}{head[3]:>12}{head[4]:>9}{head[5]:>12}{head[6]:>9}{head[7]:>10}{head[8]:>10}{head[9]:>10}"
    )
    rows = []
    for name in names:
        for row in compare(name, arguments.rounds, arguments.seconds):
            rows.append(row)
            print(
                f"{row['game']:<14}{row['playout']:<10}{row['open_spiel_per_s']:>10,.0f}"
                f"{row['distmcts_1_per_s']:>12,.0f}{row['ratio_1']:>8.2f}x"
                f"{row['distmcts_2_per_s']:>12,.0f}{row['ratio_2']:>8.2f}x{row['cores']:>10.2f}{row['speedup']:>9.2f}x{row['yield']:>9.2f}x",
                flush=True,
            )
    overhead = overhead_us(arguments.rounds)
    print(f"overhead: {overhead:.1f} microseconds a simulation")
    write_json(arguments, {"rows": rows, "overhead_us": overhead})


if __name__ == "__main__":
    main()
