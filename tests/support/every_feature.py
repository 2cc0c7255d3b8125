"""Settings that switch on every feature of a search, in two sets: PUCT stands for itself, and hashed outcomes for the others."""

FEATURES = {
    "selection": "ucb1_tuned",
    "first_play_urgency": 1.2,
    "widening": 2.0,
    "samples": 4,
    "rave": 300,
    "progressive_bias": 0.5,
    "solver": True,
    "cutoff": 20,
    "evaluation_cache": "1MiB",
    "chance": "hashed",
    "chance_widening": 2.0,
}
PUCT = {"selection": "puct", "solver": True, "rave": 300, "cutoff": 20, "evaluation_cache": "1MiB", "chance": "enumerated"}
