"""A full summary of a comparison, made by hand: shaped like a real one on two cores, every section filled."""

from typing import Any

SCHEMES = ["tree lockfree virtual_loss", "tree lockfree wu_uct", "tree node-locks virtual_loss", "root sum", "root vote", "leaf"]
PLOTS = ["speedup", "stages", "strength", "overhead", "elo", "simulated-workers", "simulated-machines"]
TABLES = ["speed", "matches", "strength", "quality", "simulated-workers", "simulated-machines", "tuning", "manifest"]

SPEED = [  # scheme, workers, speedup, duplicated, share of time waiting
    ("serial", 1, 1.00, 0.000, 0.00),
    ("tree lockfree virtual_loss", 1, 0.94, 0.000, 0.00),
    ("tree lockfree virtual_loss", 2, 1.72, 0.012, 0.01),
    ("tree lockfree wu_uct", 1, 0.93, 0.000, 0.00),
    ("tree lockfree wu_uct", 2, 1.70, 0.021, 0.01),
    ("tree node-locks virtual_loss", 1, 0.78, 0.000, 0.03),
    ("tree node-locks virtual_loss", 2, 1.31, 0.011, 0.12),
    ("root sum", 2, 1.93, 0.412, 0.00),
    ("root vote", 2, 1.92, 0.410, 0.00),
    ("leaf", 2, 0.71, 0.000, 0.38),
]

MATCHES = [  # scheme, workers, budget, wins, draws, losses, elo, low, high, los
    ("tree lockfree virtual_loss", 2, "time", 62, 8, 30, 115, 52, 185, 0.999),
    ("tree lockfree wu_uct", 2, "time", 58, 9, 33, 89, 28, 155, 0.996),
    ("tree node-locks virtual_loss", 2, "time", 50, 9, 41, 31, -28, 92, 0.85),
    ("root sum", 2, "time", 52, 10, 38, 49, -9, 109, 0.95),
    ("root vote", 2, "time", 46, 11, 43, 10, -48, 69, 0.63),
    ("leaf", 2, "time", 31, 9, 60, -104, -171, -44, 0.001),
    ("tree lockfree virtual_loss", 2, "simulations", 45, 10, 45, 0, -58, 58, 0.50),
    ("tree lockfree wu_uct", 2, "simulations", 46, 9, 45, 3, -55, 62, 0.54),
    ("root sum", 2, "simulations", 37, 11, 52, -53, -113, 5, 0.04),
    ("leaf", 2, "simulations", 25, 8, 67, -154, -231, -90, 0.0),
]

STRENGTH = [  # scheme, workers, budget, speedup, low, high, overhead
    ("tree lockfree virtual_loss", 2, "time", 1.66, 1.28, 2.20, None),
    ("tree lockfree wu_uct", 2, "time", 1.49, 1.13, 1.94, None),
    ("tree node-locks virtual_loss", 2, "time", 1.15, 0.87, 1.52, None),
    ("root sum", 2, "time", 1.24, 0.96, 1.64, None),
    ("root vote", 2, "time", 1.04, 0.81, 1.36, None),
    ("leaf", 2, "time", 0.63, 0.46, 0.82, None),
    ("tree lockfree virtual_loss", 2, "simulations", 1.00, 0.77, 1.30, 0.0),
    ("tree lockfree wu_uct", 2, "simulations", 1.01, 0.78, 1.32, -0.01),
    ("root sum", 2, "simulations", 0.78, 0.60, 1.02, 0.28),
    ("leaf", 2, "simulations", 0.50, 0.50, 0.66, 1.0),
]

READINGS = {"none": [0, -35, -95, -230, -1200], "virtual_loss": [2, -8, -22, -61, -120], "wu_uct": [-3, 4, -12, -38, -85]}
RULES = {"sum": [0, -31, -58, -104], "vote": [0, -45, -90, -168], "share": [0, -9, -22, -41]}


def full() -> dict[str, Any]:
    """A new one at each call: the caller may change it."""
    return {
        "title": "Parallel schemes on connect_four()",
        "game": "connect_four()",
        "finished": True,
        "units_done": 84,
        "units_planned": 84,
        "manifest": {
            "distmcts": "0.1.0",
            "python": "3.11.7",
            "numpy": "2.3.1",
            "numba": "0.62.0",
            "git": "9f54afe4c0ffee",
            "cpu": "AMD EPYC 7B13, 2 of 64 cores",
            "cores": 2,
            "load_at_start": 0.3,
            "seed": 1,
            "started": "2026-11-16T07:00:00+00:00",
            "command": "distmcts compare --config configs/compare_connect_four.yaml seconds=0.05 simulations=2000",
        },
        "budgets": {"simulations": 2000, "seconds": 0.05},
        "tuning": {"tuned": True, "rows": [_tuned(scheme, i) for i, scheme in enumerate(["serial", *SCHEMES])]},
        "speed": [_speed(*row) for row in SPEED],
        "quality": [_quality(scheme, budget, i) for budget in ("time", "simulations") for i, scheme in enumerate(SCHEMES)],
        "matches": [_match(*row) for row in MATCHES],
        "curve": [
            {"factor": factor, "budget": budget, "elo": elo, "elo_low": elo - 58, "elo_high": elo + 58, "pairs": 50}
            for budget in ("time", "simulations")
            for factor, elo in ((0.5, -155), (0.71, -72), (1.41, 75), (2, 150), (4, 265))
        ],
        "strength": [_strength(*row) for row in STRENGTH],
        "simulated_workers": [
            _simulated(elo, reading=reading, workers=4**i)
            for reading, elos in READINGS.items()
            for i, elo in enumerate(elos, start=1)
        ],
        "simulated_machines": [
            _simulated(elo, rule=rule, machines=4**i, workers=1) for rule, elos in RULES.items() for i, elo in enumerate(elos)
        ],
        "notes": ["Positions come from 40 random openings of 4 to 10 moves; all schemes saw the same ones."],
    }


def _tuned(scheme: str, i: int) -> dict[str, Any]:
    candidates = [
        {"c": c, "regret": 0.02 + 0.03 * abs(c - 1.0), "agreement": 0.82 - 0.1 * abs(c - 1.0)} for c in (0.5, 0.7, 1.0, 1.4)
    ]
    return {"scheme": scheme, "c": (0.7, 1.0, 1.4)[i % 3], "candidates": candidates}


def _speed(scheme: str, workers: int, speedup: float, duplicated: float, waiting: float) -> dict[str, Any]:
    shares = {"select": 0.33, "expand": 0.14, "playout": 0.43, "backup": 0.10}
    return {
        "cell": f"{scheme} x{workers}",
        "scheme": scheme,
        "backend": "inline" if scheme == "serial" else "process",
        "workers": workers,
        "rate": 812_345.0 * speedup,
        "speedup": speedup,
        "speedup_low": speedup * 0.96,
        "speedup_high": speedup * 1.03,
        "bytes_per_simulation": 46.1,
        "duplicated": duplicated,
        "lock_wait": waiting if "locks" in scheme else 0.0,
        "stages": {**{stage: share * (1 - waiting) for stage, share in shares.items()}, "waiting": waiting},
        "repeats": 5,
    }


def _quality(scheme: str, budget: str, i: int) -> dict[str, Any]:
    agreement, regret = 0.84 - 0.03 * i, 0.020 + 0.006 * i
    return {
        "cell": f"{scheme} x2",
        "scheme": scheme,
        "workers": 2,
        "budget": budget,
        "amount": 0.05 if budget == "time" else 2000,
        "agreement": agreement,
        "agreement_low": agreement - 0.11,
        "agreement_high": agreement + 0.09,
        "regret": regret,
        "regret_low": regret - 0.012,
        "regret_high": regret + 0.015,
        "positions": 40,
        "solved_positions": 30,
    }


def _match(scheme, workers, budget, wins, draws, losses, elo, low, high, los) -> dict[str, Any]:
    return {
        "cell": f"{scheme} x{workers}",
        "scheme": scheme,
        "workers": workers,
        "budget": budget,
        "opponent": "serial",
        "pairs": 50,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "elo": elo,
        "elo_low": low,
        "elo_high": high,
        "los": los,
        "decision": "stronger" if low > 0 else "not stronger" if high < 0 else "undecided",
    }


def _strength(scheme, workers, budget, speedup, low, high, overhead) -> dict[str, Any]:
    return {
        "cell": f"{scheme} x{workers}",
        "scheme": scheme,
        "workers": workers,
        "budget": budget,
        "speedup": speedup,
        "low": low,
        "high": high,
        "beyond": speedup == 0.5,
        "overhead": overhead,
    }


def _simulated(elo: float, **what: Any) -> dict[str, Any]:
    score = 1 / (1 + 10 ** (-elo / 400))
    low, high = (-1200, -420) if elo == -1200 else (elo - 62, elo + 60)
    return {**what, "elo": elo, "elo_low": low, "elo_high": high, "score": score, "pairs": 40, "simulations": 2000}
