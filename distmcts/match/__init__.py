"""Which player is stronger: pairs of games, Elo with its interval, a sequential test, strength speedup."""
