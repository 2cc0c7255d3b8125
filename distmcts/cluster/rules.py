"""The merge rules: how the reports of many machines become one answer, and what machines are told meanwhile."""

from typing import NamedTuple

from distmcts.errors import unknown


class MergeRule(NamedTuple):
    about: str
    exchanges: bool = False  # whether machines are told what the others have found while they search
    depth: int | None = 1  # moves from the root to the deepest nodes that are reported; None: wherever there are enough visits
    votes: bool = False  # whether the best move is the one with the most votes, before visits


TABLE = {
    "sum": MergeRule("they search apart; visits are added up"),
    "vote": MergeRule("they search apart; each has one vote, for its most visited move", votes=True),
    "periodic": MergeRule(
        "now and then each is told what the others know of the moves at the root; visits are added up", exchanges=True
    ),
    "share": MergeRule(
        "now and then each is told what the others know of all much visited nodes (tree/share.py); visits are added up",
        exchanges=True,
        depth=None,
    ),
}
RULES = tuple(TABLE)
DEFAULT_RULE = "sum"
CLUSTER_KEYS = ("merge", "share", "merge_s", "wait_s")  # of a search on a cluster, beside those of any search


def check_rule(name: str, kind: str = "merge rule") -> None:
    if name not in TABLE:
        raise unknown(kind, name, RULES)
