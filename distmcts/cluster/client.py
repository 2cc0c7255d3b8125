"""A cluster from the user's side: `distmcts.Cluster("tcp://host:5555").search("awale", seconds=10)`.

The client asks a few times a second how far along its job is. A job has a name, and handing it in twice does no harm: so the
coordinator may be restarted in the middle, and a question or an answer may get lost.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import zmq

from distmcts.answer import at_chance, make_result, names_of
from distmcts.cluster.keys import Invitation, coordinator_key, key_folder, own_key, read_invitation
from distmcts.cluster.merging import unpack_row
from distmcts.cluster.messages import (
    FROM_CLIENTS,
    TO_CLIENTS,
    Answer,
    Ask,
    AskStatus,
    BadFrame,
    Cancel,
    JobStatus,
    Message,
    Reader,
    Rejected,
    Shutdown,
    Status,
    SubmitBatch,
    SubmitSearch,
    UnitResults,
    write,
)
from distmcts.cluster.order import Order, make_order
from distmcts.cluster.rules import DEFAULT_RULE, TABLE
from distmcts.cluster.sockets import DEFAULT_ADDRESS, Connection, check_address, is_local
from distmcts.errors import InputError, SearchError
from distmcts.parallel.stoppers import Progress
from distmcts.result import NodeResult, Result, some

ASK_S = 0.1  # between two questions
CONTACT_S = 30.0  # how long a coordinator may be silent before we give up


class UnitResult(NamedTuple):
    unit: str
    found: Any  # None if it failed
    error: str  # what went wrong, or empty


def find_invitation(where: str, keys: Path | None = None, key: str | None = None, coordinator: str | None = None) -> Invitation:
    """How to get in: `where` is an address, or the path of an invitation or of a run folder that has one.

    An address on this machine needs no keys; for others they come from the folder of keys.
    """
    if "://" not in where:
        path = Path(where)
        if not path.exists():
            raise InputError(f"{where!r}: is neither an address, as in {DEFAULT_ADDRESS}, nor an invitation or a run folder")
        return _of_run(path) if path.is_dir() else read_invitation(path)
    check_address(where)
    if is_local(where) and keys is None:
        return Invitation(where)
    folder = keys or key_folder()
    pair = own_key(folder, key)
    return Invitation(where, coordinator_key(folder, coordinator), pair.public, pair.secret)


def _of_run(folder: Path) -> Invitation:
    """The invitation in the folder of a launched run, which has one while its cluster is up."""
    invitation = folder / "invitation.json"
    if not invitation.exists():
        job = folder / "slurm_job_id"
        if (folder / "result.json").exists():
            raise InputError(f"{folder}: has finished; {folder / 'result.json'} has the result")
        if job.exists():
            raise InputError(f"{folder}: no cluster is up; its job may be in the queue: squeue --jobs {job.read_text().strip()}")
        raise InputError(f"{folder}: no cluster is up; resume a stopped run with: distmcts launch --resume {folder}")
    return read_invitation(invitation)


class Cluster:
    """Owns a connection: use it with `with`, or call `close`. `where`: an address, an invitation, or the path of one."""

    def __init__(self, where: str | Path | Invitation, *, keys: str | Path | None = None, contact_s: float = CONTACT_S):
        """Does not wait for the coordinator. `keys`: a folder of keys; `contact_s`: how long a coordinator may be silent."""
        self.invitation = (
            where if isinstance(where, Invitation) else find_invitation(str(where), Path(keys) if keys is not None else None)
        )
        self._contact_s = contact_s
        self._context = zmq.Context()
        self._reader = Reader(TO_CLIENTS)
        try:
            self._connection = Connection(self._context, self.invitation)
        except BaseException:
            self._context.destroy(linger=0)
            raise

    # ---- searching --------------------------------------------------------------------------------------------------------

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        merge: str = DEFAULT_RULE,
        job: str | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_status: Callable[[str], None] | None = None,
        **settings: Any,
    ) -> Result:
        """Search a position on all nodes and merge what they find. Blocks until the budget is used up (5 seconds if none is
        given), or no node is left.

        merge: a rule of cluster/rules.py. job: the name to find it by again. Ctrl-C ends the search on all nodes. Settings are
        those of `distmcts.search`; workers and memory are each node's own unless they are given.
        """
        order = make_order(game, state, simulations=simulations, seconds=seconds, merge=merge, **settings)
        return self.run(order, job, on_progress=on_progress, on_status=on_status)

    def run(
        self,
        order: Order,
        job: str | None = None,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_status: Callable[[str], None] | None = None,
        on_cancel: Callable[[], None] = lambda: None,
        keep: bool = False,
    ) -> Result:
        """Have an order carried out. Blocks.

        The first Ctrl-C ends the search with what was found so far, and calls `on_cancel`. SystemExit, which SIGTERM raises, ends
        it as well, unless `keep` says that a later `run` will take the job up by its name.
        """
        job = job or f"search-{secrets.token_hex(4)}"
        submit = _checked(SubmitSearch(job, order.search))
        question: Message = submit
        is_cancelled = False
        while True:
            try:
                reply = self._ask(question, job)
                question = Ask(job, 0)
                if isinstance(reply, Answer):
                    return self.result(order, reply)
                self._check_failed(reply)
                if is_cancelled:
                    if reply.state == "unknown":
                        raise SearchError("interrupted; the coordinator does not know the search any more")
                    self._connection.send(write(Cancel(job)))  # the first one may have been lost
                elif reply.state == "unknown":
                    question = submit
                if on_status and reply.state in ("waiting", "preparing"):
                    on_status(
                        reply.note or f"{reply.state} (a game is compiled at its first use): {some(len(reply.nodes), 'node')}"
                    )
                if on_progress and reply.state in ("searching", "ending"):
                    on_progress(self._progress(order, reply))
                time.sleep(ASK_S)
            except KeyboardInterrupt:
                if is_cancelled:
                    raise
                is_cancelled = True  # what was found so far still comes
                on_cancel()
                self._connection.send(write(Cancel(job)))
            except SystemExit:
                if not keep:
                    self._connection.send(write(Cancel(job)))
                raise

    def submit(self, order: Order, job: str) -> None:
        """Hand an order in without waiting for it; `run` with the same name waits."""
        self._ask(_checked(SubmitSearch(job, order.search)), job)

    @staticmethod
    def _check_failed(reply: Message) -> None:
        if isinstance(reply, JobStatus) and reply.state == "failed":
            raise SearchError(f"the cluster could not do it: {reply.note}")

    @staticmethod
    def _progress(order: Order, status: JobStatus) -> Progress:
        search = order.search
        return Progress(status.simulations, search.simulations, status.elapsed_s, search.seconds, 0.0, list)

    def result(self, order: Order, answer: Answer) -> Result:
        """The answer of a cluster as the result of a search."""
        game, state, search, settings = order
        rows = [*map(unpack_row, answer.rows)]
        if not at_chance(game, state) and not game.has_ranks:
            legal = set(game.legal_moves(state))
            rows = [row for row in rows if row.move in legal]
        if not rows:
            raise SearchError("the cluster's answer has no legal move in it")
        nodes = tuple(
            NodeResult(row.name, row.state, row.workers, row.simulations, row.elapsed_s, row.merging_s) for row in answer.nodes
        )
        own = {"workers": max(1, sum(node.workers for node in nodes)), "merge": search.merge, "seed": settings.seed}
        return make_result(
            game,
            state,
            rows,
            final="vote" if TABLE[search.merge].votes else settings.final,
            lines={line[0]: _line(game, state, line) for line in answer.lines if line},
            before=0,
            simulations=answer.simulations,
            elapsed_s=answer.elapsed_s,
            stopped_by=answer.stopped_by,
            nodes=answer.tree_nodes,
            bytes_used=answer.bytes_used,
            replaced_workers=sum(row.replaced for row in answer.nodes),
            longest_stall_s=0.0,
            settings={**settings.model_dump(), **own},
            cluster_nodes=nodes,
        )

    # ---- units ------------------------------------------------------------------------------------------------------------

    def map(
        self,
        kind: str,
        context: dict[str, Any],
        units: list[str],
        *,
        job: str | None = None,
        on_wait: Callable[[int, int], None] | None = None,
    ) -> Iterator[UnitResult]:
        """Have independent units carried out by the nodes, each once; their results as they come. Blocks between them.

        kind: see cluster/work.py. on_wait: called now and then with how many units are done, and of how many. Leaving the loop
        early cancels the rest.
        """
        name = job or f"{kind}-{secrets.token_hex(4)}"
        submit = _checked(SubmitBatch(name, kind, json.dumps(context), units))
        question: Message = submit
        start = 0
        try:
            while True:
                reply = self._ask(question, name)
                question = Ask(name, start)
                self._check_failed(reply)
                if isinstance(reply, UnitResults) and reply.start == start:
                    for unit, text, went_well in reply.results:
                        start += 1
                        yield UnitResult(unit, json.loads(text) if went_well else None, "" if went_well else text)
                    if start >= reply.total:
                        return
                    if reply.results:
                        question = Ask(name, start)
                        continue
                    if on_wait:
                        on_wait(reply.done, reply.total)
                elif isinstance(reply, JobStatus) and reply.state == "unknown":
                    question = submit
                time.sleep(ASK_S)
        except (GeneratorExit, KeyboardInterrupt, SystemExit):
            self._connection.send(write(Cancel(name)))
            raise

    # ---- status -----------------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Who is there and what is going on. Blocks until the coordinator answers."""
        return self._ask(AskStatus(), None)

    def shut_down(self) -> None:
        """End the coordinator and all nodes."""
        self._connection.send(write(Shutdown()))

    # ---- asking -----------------------------------------------------------------------------------------------------------

    def _ask(self, question: Message, job: str | None) -> Any:
        """The newest reply about a job (None: a status). Asks until there is one: a coordinator may be restarting."""
        deadline = time.monotonic() + self._contact_s
        while True:
            self._connection.send(write(question))
            reply = self._reply(1.0, job)
            if isinstance(reply, Rejected):
                raise InputError(reply.reason)
            if reply is not None:
                return reply
            if reason := self._connection.rejection():
                raise InputError(reason)
            if time.monotonic() > deadline:
                raise SearchError(
                    f"no answer from {self.invitation.address} for {self._contact_s:g} s; is a coordinator running there?"
                )

    def _reply(self, timeout_s: float, job: str | None) -> Any:
        """The last one that has come; earlier ones are old news."""
        found = None
        wait_ms = int(timeout_s * 1000)
        while self._connection.socket.poll(0 if found is not None else wait_ms):
            frames = self._connection.socket.recv_multipart()
            try:
                message = self._reader.read(frames[-1])
            except BadFrame as error:
                raise SearchError(f"cannot understand {self.invitation.address}: a message {error}") from None
            if isinstance(message, Rejected) or getattr(message, "job", None) == job:
                found = message
        return found

    def close(self) -> None:
        """Can be called twice."""
        if not self._context.closed:
            self._connection.close(linger_s=0.5)
            self._context.term()

    def __repr__(self) -> str:
        return f"Cluster({self.invitation.address!r})"

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checked(submit: SubmitSearch | SubmitBatch) -> SubmitSearch | SubmitBatch:
    """What is handed in, if the coordinator can read it: otherwise it would drop it silently."""
    try:
        Reader(FROM_CLIENTS).read(write(submit))
    except BadFrame as error:
        raise InputError(f"{submit.job!r} cannot be handed in: it is {error.why or error}") from None
    return submit


def _line(game: Any, state: Any, moves: list[int]) -> tuple[str, ...]:
    """Names of a line that came from elsewhere; nothing if it cannot be played."""
    try:
        return names_of(game, state, moves)
    except InputError:
        return ()
