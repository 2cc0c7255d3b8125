"""Examples of every message, and frames that are none: flipped, cut, spliced, inflated, made up."""

import random
from collections.abc import Iterator

from distmcts.cluster import messages as m
from tests.cluster.simulated import a_search

STATISTICS = m.Statistics([9, 5, 3, 2], [-7, 12, 1 << 40, 0], [0, 0, 1], [3, 1 << 40, 0])
ENDING = m.Ending("time", 1.5, 1, 1000, 1 << 20, 0.01, [[3, 0], [1 << 40], []])
ROW = m.NodeRow("eins", "lost: silent", 4, 1 << 40, 1.5, 0, 0.25)
MOVE = m.MoveRow(3, 9, -7, 1, None)
SEARCH = a_search(2.5, 10**6, "share", settings={"exploration": 1.25, "seed": 7, "solver": False}, names={"3": "c4"})

EXAMPLES: dict[object, list[m.Message]] = {
    m.FROM_NODES: [
        m.Hello("eins", 1_700_000_000_000, 64, "0.1.0"),
        m.Beat("", "", "idle", 0, 0),
        m.Beat("job", "", "searching", 12345, 20000),
        m.Beat("batch", "u1", "working", 0, 0),
        m.Ready("job"),
        m.Report("job", "eins", 1_700_000_000_000, 7, STATISTICS, {"3": 1.0, "9": -0.5}, None),
        m.Report("job", "eins", 1_700_000_000_000, 8, STATISTICS, {}, ENDING),
        m.Refused("job", "eins: has no such game"),
        m.UnitDone("batch", "u1", '{"value": 0.25}'),
        m.UnitFailed("batch", "u2", "eins: broken"),
        m.Goodbye("interrupted"),
    ],
    m.FROM_CLIENTS: [
        m.SubmitSearch("job", SEARCH),
        m.SubmitSearch("text", a_search(simulations=5, position="3k4/8 w", parameters={"rows": 7, "name": None, "wide": True})),
        m.SubmitBatch("batch", "compare", "{}", ["u1", "u2", "ü3"]),
        m.Ask("job", 0),
        m.Ask("batch", 1 << 62),
        m.Cancel("job"),
        m.AskStatus(),
        m.Shutdown(),
    ],
    m.TO_NODES: [
        m.Who(),
        m.Welcome("0123456789abcdef"),
        m.Rejected("another version"),
        m.Pulse("0123456789abcdef"),
        m.Prepare("job", SEARCH, 3),
        m.Go("job", 2.5, None),
        m.Go("job", None, 1 << 40),
        m.Others("job", 7, STATISTICS),
        m.Stop("job"),
        m.Received("job", ""),
        m.Received("batch", "u1"),
        m.Work("batch", "u1", "compare", '{"game": "awale"}'),
        m.Leave("the coordinator ends"),
    ],
    m.TO_CLIENTS: [
        m.JobStatus("job", "searching", "", 1.5, 1 << 40, [ROW, ROW]),
        m.Answer("job", "2.5 seconds", 2.5, 10**6, [MOVE, m.MoveRow(4, 1, 1, 0, -1.0)], [[3, 0]], [ROW], 1000, 1 << 30),
        m.UnitResults("batch", 0, [("u1", "{}", True), ("u2", "broken", False)], 3, 2, [ROW]),
        m.Status("0123456789abcdef", 3.5, [ROW], [m.JobRow("job", "a search", "done", 9, None, [MOVE], {"3": "c4"})], {"old": 1}),
        m.Rejected("a search needs a budget"),
    ],
}
FRAMES = {side: [m.write(message) for message in examples] for side, examples in EXAMPLES.items()}

LENGTHS = [b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9", b"\xdc", b"\xde", b"\xda"]  # of lists, maps, texts, bytes and extensions
INFINITE, NO_NUMBER = b"\xcb\x7f\xf0" + b"\0" * 6, b"\xcb\x7f\xf8" + b"\0" * 6
VALUES = [b"\xcf" + b"\xff" * 8, b"\xd3\x80" + b"\0" * 7, INFINITE, NO_NUMBER, b"\xc0", b"\xff"]


def mutants(seed: int, count: int, frames: list[bytes]) -> Iterator[bytes]:
    """Frames that were right once."""
    choose = random.Random(seed)
    rand, size = choose.random, len(frames)
    for _ in range(count):
        frame = frames[int(rand() * size)]
        kind = rand()
        at = int(rand() * len(frame))
        if kind < 0.35:
            found = bytearray(frame)
            found[at] ^= 1 << int(rand() * 8)
            while rand() < 0.4:
                found[int(rand() * len(found))] ^= 1 << int(rand() * 8)
            yield bytes(found)
        elif kind < 0.5:
            yield frame[:at]
        elif kind < 0.7:
            other = frames[int(rand() * size)]
            yield frame[:at] + other[int(rand() * len(other)) :]
        elif kind < 0.8:
            yield frame[:at] + LENGTHS[int(rand() * len(LENGTHS))] + choose.randbytes(4) + frame[at + 1 :]
        elif kind < 0.9:
            yield frame[:at] + VALUES[int(rand() * len(VALUES))] + frame[at + 1 :]
        else:
            yield m.MAGIC + choose.randbytes(int(rand() * 60))
