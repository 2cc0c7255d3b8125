"""A node's connection to its coordinator: a thread of its own, so that heartbeats go on while kernels are compiled or searching.

The thread owns the socket. It says Hello until it is welcomed, and whenever the coordinator has forgotten us; sends a heartbeat
every half second that says what the node is doing; and repeats last reports and results of units until the coordinator has them.
"""

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import zmq

from distmcts.cluster.coordinator import BEAT_S, HICCUP_S, LOST_S
from distmcts.cluster.keys import Invitation
from distmcts.cluster.messages import (
    TO_NODES,
    BadFrame,
    Beat,
    Goodbye,
    Hello,
    Leave,
    Message,
    Pulse,
    Reader,
    Received,
    Refused,
    Rejected,
    Report,
    UnitDone,
    UnitFailed,
    Welcome,
    Who,
    write,
)
from distmcts.cluster.sockets import Connection

POLL_S = 0.1
AGAIN_S = 1.0  # between two tries to say something that must get through
CLOSE_S = 1.5  # how long the end may take
IDLE = Beat("", "", "idle", 0, 0)

SENT_HOME, LEFT_ALONE, REJECTED = 0, 1, 2  # why a node ends; its exit codes

log = logging.getLogger("distmcts.node")


class Link:
    """Owns a thread and a socket; `close` ends both.

    `on_end(reason, code)` is called from the thread when there is no point in going on: the coordinator sends us home (code
    SENT_HOME), has been silent for `silence_s` (LEFT_ALONE), or does not let us in (REJECTED).
    """

    def __init__(self, invitation: Invitation, hello: Hello, silence_s: float, on_end: Callable[[str, int], None]):
        self.beat = IDLE  # replaced, never changed: the thread reads it at any time
        self.inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._hello = hello
        self._invitation = invitation
        self._silence_s = silence_s
        self._on_end = on_end
        self._outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._pending: dict[tuple[str, str], Message] = {}  # by job and unit: what must get through
        self._coordinator: str | None = None
        self._heard_at = time.monotonic()
        self._is_silent = False
        self._is_closing = False
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_out, False)
        os.set_blocking(self._wake_in, False)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._live, name="distmcts link", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure:
            raise self._failure

    # ---- the node's side --------------------------------------------------------------------------------------------------

    def send(self, message: Message) -> None:
        """Never blocks. Results of units, refusals and last reports are sent until they are received; all else may get lost."""
        self._outbox.put(message)
        with suppress(BlockingIOError):  # it is awake already
            os.write(self._wake_in, b".")

    def receive(self, timeout_s: float) -> Message | None:
        try:
            return self.inbox.get(timeout=timeout_s) if timeout_s > 0 else self.inbox.get_nowait()
        except queue.Empty:
            return None

    @property
    def has_pending(self) -> bool:
        return bool(self._pending) or not self._outbox.empty()

    def close(self, reason: str) -> None:
        """Say goodbye. Blocks until everything that must get through has, for CLOSE_S at most."""
        deadline = time.monotonic() + CLOSE_S
        while self.has_pending and time.monotonic() < deadline and not self._is_silent and self._thread.is_alive():
            time.sleep(0.02)
        self.send(Goodbye(reason))
        self._is_closing = True
        self._thread.join(CLOSE_S)
        if not self._thread.is_alive():
            os.close(self._wake_in)
            os.close(self._wake_out)

    # ---- the thread's side ------------------------------------------------------------------------------------------------

    def _live(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # they are for the main thread
        context = zmq.Context()
        try:
            identity = f"{self._hello.epoch}/{self._hello.node}".encode()[:255]
            connection = Connection(context, self._invitation, identity)
        except BaseException as error:
            context.term()
            self._failure = error
            return
        finally:
            self._ready.set()
        try:
            self._loop(connection)
        except Exception as error:  # a node without a link is of no use
            log.exception("the link broke")
            self._on_end(f"the link broke: {error}", LEFT_ALONE)
        finally:
            connection.close(linger_s=0.5)
            context.term()

    def _loop(self, connection: Connection) -> None:
        poller = zmq.Poller()
        poller.register(connection.socket, zmq.POLLIN)
        poller.register(self._wake_out, zmq.POLLIN)
        reader = Reader(TO_NODES)
        beat_at = hello_at = again_at = 0.0
        turned_at = time.monotonic()
        while True:
            events = dict(poller.poll(int(POLL_S * 1000)))
            if time.monotonic() - turned_at > HICCUP_S:  # we ourselves slept: that is not the coordinator's silence
                self._heard_at += time.monotonic() - turned_at
            turned_at = time.monotonic()
            if self._wake_out in events:
                os.read(self._wake_out, 4096)
            if connection.socket in events:
                self._take_all(connection, reader)
            now = time.monotonic()
            if self._coordinator is None and now - hello_at >= BEAT_S:
                hello_at = now
                connection.send(write(self._hello))
            if now - beat_at >= BEAT_S:
                beat_at = now
                connection.send(write(self.beat))
            if now - again_at >= AGAIN_S:
                again_at = now
                for message in list(self._pending.values()):
                    connection.send(write(message))
            is_last = self._is_closing and self._outbox.empty()
            self._send_all(connection)
            if is_last or self._is_hopeless(connection, now):
                return

    def _send_all(self, connection: Connection) -> None:
        while not self._outbox.empty():
            message = self._outbox.get()
            if isinstance(message, Refused) or isinstance(message, Report) and message.ending is not None:
                self._pending[message.job, ""] = message
            elif isinstance(message, UnitDone | UnitFailed):
                self._pending[message.job, message.unit] = message
            connection.send(write(message))

    def _take_all(self, connection: Connection, reader: Reader) -> None:
        while True:
            try:
                frames = connection.socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            try:
                message = reader.read(frames[-1])
            except BadFrame as error:
                if str(error).startswith("of another version"):
                    self._on_end(f"{connection.address} speaks another version of the protocol than this node", REJECTED)
                log.warning("a message of the coordinator was dropped: %s", error)
                continue
            self._heard_at = time.monotonic()
            self._take(connection, message)

    def _take(self, connection: Connection, message: Message) -> None:
        match message:
            case Welcome() | Pulse():
                if self._coordinator != message.coordinator:
                    if isinstance(message, Pulse):  # not the one we said Hello to
                        connection.send(write(self._hello))
                    else:
                        log.info("welcome at %s", connection.address)
                    self._coordinator = message.coordinator
            case Who():
                self._coordinator = None  # Hello is said again at its own pace; at once, the two could go on for ever
            case Received():
                self._pending.pop((message.job, message.unit), None)
            case Rejected():
                self._on_end(f"rejected: {message.reason}", REJECTED)
            case Leave():
                self._on_end(f"sent home: {message.reason}", SENT_HOME)
            case _:
                self.inbox.put(message)

    def _is_hopeless(self, connection: Connection, now: float) -> bool:
        """Whether there is no point in going on."""
        if reason := connection.rejection():
            self._on_end(reason, REJECTED)
            return True
        silent_s = now - self._heard_at
        if (silent_s > LOST_S) != self._is_silent:
            self._is_silent = not self._is_silent
            said = f"silent for {silent_s:.1f} s; going on alone" if self._is_silent else "back"
            log.warning("the coordinator is %s", said)
        if silent_s > self._silence_s:
            self._on_end(f"the coordinator at {connection.address} has been silent for {silent_s:.0f} s", LEFT_ALONE)
            return True
        return False
