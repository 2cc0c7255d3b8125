"""What travels between coordinator, cluster nodes and clients: typed messages, checked when they are read.

A frame is MAGIC, which carries the protocol's version, then one message as MessagePack. Nothing in it is ever executed: a message
is numbers, texts and lists of a known shape, or it is refused. Numbers are cumulative and orders are whole, so a message that is
lost, late or doubled does no harm:

    a node        Hello  Beat  Ready  Report  Refused  UnitDone  UnitFailed  Goodbye
    to a node     Who  Welcome  Rejected  Pulse  Prepare  Go  Others  Stop  Received  Work  Leave
    to a client   JobStatus  Answer  UnitResults  Status  Rejected
    a client      SubmitSearch  SubmitBatch  Ask  Cancel  AskStatus  Shutdown
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

VERSION = 2
MAGIC = b"dmcts" + bytes([VERSION])
MAX_BYTES = 2 << 20  # of a frame; sockets drop the connection of a peer that sends more
MAX_ENTRIES = 10_000  # nodes of a tree in one report
MAX_UNITS = 100_000
MAX_LINES = 50
MAX_FOUND = 500_000  # characters of what a unit has found

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=20_000)]
Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Size = Annotated[int, Meta(ge=0, le=1 << 48)]  # of what one machine has: a sum over thousands of them is still a Count
Word = Annotated[int, Meta(ge=0)]  # of a packed position: all 64 bits; MessagePack knows no more
Sum = Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Share = Annotated[float, Meta(ge=0, le=1)]
Value = Annotated[float, Meta(ge=-1, le=1)]
Json = Annotated[str, Meta(max_length=MAX_FOUND)]
Moves = Annotated[list[Count], Meta(max_length=64)]
Plain = str | int | float | bool | None


class Message(Struct, frozen=True, array_like=True, tag=True, forbid_unknown_fields=True):
    """Compact on the wire: an array, its first element the name of the message."""


class Piece(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A piece of messages."""


class Statistics(Piece):
    """Some nodes of a tree. Entry 0 is the root; entry i > 0 is reached by `moves[i - 1]` from entry `parents[i - 1]` < i."""

    visits: Annotated[list[Count], Meta(min_length=1, max_length=MAX_ENTRIES)]
    value_sums: Annotated[list[Sum], Meta(max_length=MAX_ENTRIES)]
    parents: Annotated[list[Count], Meta(max_length=MAX_ENTRIES)]
    moves: Annotated[list[Count], Meta(max_length=MAX_ENTRIES)]


class Search(Piece):
    """What to search, how, and how the searches of many machines become one answer."""

    game: Name
    parameters: dict[str, Plain]
    fingerprint: Text  # of the game's rules, as the client has them
    position: Annotated[list[Word], Meta(max_length=10_000)] | Text  # as the game packs it
    settings: dict[str, Plain]  # only those that were given: the others are each node's own
    seconds: Seconds | None
    simulations: Count | None  # of all nodes together
    merge: Name  # the rule
    share: Share  # of the root's visits: what a node of the tree needs to be told to others
    merge_s: Seconds  # between two reports
    wait_s: Seconds  # how long to wait while there is no node
    names: dict[str, Name]  # of the moves at the root, for a status that people can read


class Ending(Piece):
    """How a node's search ended; travels with its last report."""

    stopped_by: Text
    elapsed_s: Seconds
    replaced: Size  # workers that died and were replaced
    nodes: Size
    bytes_used: Size
    merging_s: Seconds  # spent on merging, while the search stood still
    lines: Annotated[list[Moves], Meta(max_length=MAX_LINES)]  # how play goes on after the best moves, themselves first
    workers: Count = 0  # that searched; a job may ask for fewer than the node has


class NodeRow(Piece):
    """A cluster node in an answer, or in a status."""

    name: Name
    state: Text
    workers: Count
    simulations: Count
    elapsed_s: Seconds
    replaced: Count
    merging_s: Seconds


class MoveRow(Piece):
    move: Count
    visits: Count
    value_sum: Sum
    votes: Count
    proven: Value | None


class JobRow(Piece):
    job: Name
    about: Text
    state: Text
    done: Count
    wanted: Count | None
    rows: list[MoveRow]  # merged so far, the best few
    names: dict[str, Name]


# ---- from a node ---------------------------------------------------------------------------------------------------------


class Hello(Message):
    """A node introduces itself. `epoch`: of the process; a node that was restarted has a higher one, and new trees."""

    node: Name
    epoch: Count
    workers: Count
    software: Text


class Beat(Message):
    """A node is alive, and this is what it is doing. States: idle, preparing, ready, searching, working."""

    job: Annotated[str, Meta(max_length=200)]  # empty if it has none
    unit: Annotated[str, Meta(max_length=200)]
    state: Name
    simulations: Count
    granted: Count  # as far as the node knows


class Ready(Message):
    job: Name


class Report(Message):
    """All that a node's own simulations have found in a job so far. Of two, the one with the higher `sequence` counts."""

    job: Name
    node: Name
    epoch: Count
    sequence: Count
    statistics: Statistics
    proven: dict[str, Value]  # exact values of moves at the root
    ending: Ending | None


class Refused(Message):
    """The node cannot take part in a job."""

    job: Name
    reason: Text


class UnitDone(Message):
    job: Name
    unit: Name
    found: Json


class UnitFailed(Message):
    job: Name
    unit: Name
    reason: Text


class Goodbye(Message):
    """The node leaves, and has reported all it has."""

    reason: Text


# ---- to a node -----------------------------------------------------------------------------------------------------------


class Who(Message):
    """The coordinator does not know the sender: it should say Hello."""


class Welcome(Message):
    coordinator: Name  # another name after a restart


class Rejected(Message):
    reason: Text


class Pulse(Message):
    """The coordinator is alive."""

    coordinator: Name


class Prepare(Message):
    """Make ready for a search, and say so."""

    job: Name
    search: Search
    place: Count  # of the node among all nodes of the job; gives it a seed of its own


class Go(Message):
    """Search. `granted`: simulations this node may make in all; it only grows."""

    job: Name
    seconds: Seconds | None  # from now
    granted: Count | None


class Others(Message):
    """What all other nodes have found."""

    job: Name
    sequence: Count
    statistics: Statistics


class Stop(Message):
    """End the search of a job; if it has begun, the last report is wanted."""

    job: Name


class Received(Message):
    """The last report of a job, or what a unit has found, is safe: the node need not send it again."""

    job: Name
    unit: Annotated[str, Meta(max_length=200)]


class Work(Message):
    """Carry out a unit."""

    job: Name
    unit: Name
    kind: Name
    context: Text  # JSON


class Leave(Message):
    reason: Text


# ---- from a client -------------------------------------------------------------------------------------------------------


class SubmitSearch(Message):
    """May be sent twice: a job is known by its name."""

    job: Name
    search: Search


class SubmitBatch(Message):
    job: Name
    kind: Name
    context: Text
    units: Annotated[list[Name], Meta(min_length=1, max_length=MAX_UNITS)]


class Ask(Message):
    """How far along is a job? For a batch, also what its units have found, from number `start` on."""

    job: Name
    start: Count


class Cancel(Message):
    job: Name


class AskStatus(Message):
    pass


class Shutdown(Message):
    """End the coordinator and all nodes."""


# ---- to a client ---------------------------------------------------------------------------------------------------------


class JobStatus(Message):
    """How far along a job is. States: unknown, waiting, preparing, searching, working, done, failed."""

    job: Name
    state: Name
    note: Text
    elapsed_s: Seconds
    simulations: Count
    nodes: list[NodeRow]


class Answer(Message):
    """The merged result of a search."""

    job: Name
    stopped_by: Text
    elapsed_s: Seconds
    simulations: Count
    rows: list[MoveRow]  # best first
    lines: list[Moves]
    nodes: list[NodeRow]
    tree_nodes: Count
    bytes_used: Count


class UnitResults(Message):
    """What units of a batch have found, in the order in which they ended."""

    job: Name
    start: Count
    results: list[tuple[Name, Json, bool]]  # unit, what it found or what went wrong, whether it went well
    total: Count  # units of the batch
    done: Count
    nodes: list[NodeRow]


class Status(Message):
    coordinator: Name
    uptime_s: Seconds
    nodes: list[NodeRow]
    jobs: list[JobRow]
    dropped: dict[str, Count]  # messages that could not be used, by what was wrong with them


FROM_NODES = Hello | Beat | Ready | Report | Refused | UnitDone | UnitFailed | Goodbye
FROM_CLIENTS = SubmitSearch | SubmitBatch | Ask | Cancel | AskStatus | Shutdown
TO_NODES = Who | Welcome | Rejected | Pulse | Prepare | Go | Others | Stop | Received | Work | Leave
TO_CLIENTS = JobStatus | Answer | UnitResults | Status | Rejected


class BadFrame(Exception):
    """A frame that is not a message of this protocol. Its text says why, briefly and always in the same way, so that it can be
    counted; `why` says it in full, for whoever wrote the frame.
    """

    why = ""


class Reader:
    """Reads the messages that one side may send."""

    def __init__(self, allowed: Any):
        self._decoder = msgspec.msgpack.Decoder(allowed)

    def read(self, frame: bytes | memoryview) -> Any:
        """The message in a frame; BadFrame if there is none."""
        if len(frame) > MAX_BYTES:
            raise BadFrame("too large")
        if bytes(frame[: len(MAGIC) - 1]) != MAGIC[:-1]:
            raise BadFrame("not of this protocol")
        if bytes(frame[: len(MAGIC)]) != MAGIC:
            raise BadFrame("of another version of the protocol")
        try:
            return self._decoder.decode(memoryview(frame)[len(MAGIC) :])
        except msgspec.ValidationError as error:
            bad = BadFrame("not a message the sender may send")
            bad.why = f"not of the right form: {error}"
            raise bad from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise BadFrame("not MessagePack") from None


_encoder = msgspec.msgpack.Encoder()


def write(message: Message) -> bytes:
    return MAGIC + _encoder.encode(message)
