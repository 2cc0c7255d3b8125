"""The coordinator as a process: a socket, a clock and a recovery file around coordinator.py."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import zmq

from distmcts.cluster.coordinator import Coordinator
from distmcts.cluster.keys import AllowedKeys, KeyPair
from distmcts.cluster.messages import FROM_CLIENTS, FROM_NODES, BadFrame, Message, Reader, Rejected, Stop, write
from distmcts.cluster.recovery import RecoveryFile
from distmcts.cluster.sockets import Server

TICK_S = 0.02
AT_ONCE = 500  # messages taken between two looks at the clock
HOME_S = 3.0  # how long nodes have to say goodbye
CHECKPOINT_S = 2.0  # how long nodes have for their last reports before a checkpoint

log = logging.getLogger("distmcts.coordinator")


class CoordinatorServer:
    """Owns socket and recovery file: use it with `with`, or call `close`. `run` blocks until it is asked to end."""

    def __init__(
        self, address: str, pair: KeyPair | None = None, allowed: AllowedKeys | None = None, recovery: Path | None = None
    ):
        self._context = zmq.Context()
        self._recovery: RecoveryFile | None = None
        self._server: Server | None = None
        self._reader = Reader(FROM_NODES | FROM_CLIENTS)
        self._checkpoint = False
        try:
            self._recovery = RecoveryFile(recovery)
            self._server = Server(self._context, address, pair, allowed)
            now = time.monotonic()
            self.coordinator = Coordinator(self._send, self._recovery.note, now)
            self._recovery.replay(self.coordinator, now)
        except BaseException:
            self.close()
            raise
        self.address = self._server.address

    def _send(self, identity: bytes, message: Message) -> None:
        try:
            self._server.socket.send_multipart([identity, write(message)], zmq.DONTWAIT)
        except zmq.ZMQError as error:  # full, or gone: heartbeats will tell
            log.debug("could not send to %s: %s", identity.hex()[:16], error)

    def checkpoint(self) -> None:
        """End soon, with all that is needed to go on later in the recovery file. May be called from a signal handler."""
        self._checkpoint = True

    def run(self, on_turn: Callable[[], None] = lambda: None) -> None:
        """`on_turn` is called some 50 times a second, and may raise."""
        while not self.coordinator.is_ending:
            self._turn(TICK_S)
            on_turn()
            if self._checkpoint:
                self._take_checkpoint()
        self._send_home()

    def _send_home(self) -> None:
        """Tell nodes to leave until all have, including lost ones that come back now; but not for long."""
        deadline = time.monotonic() + HOME_S
        while self.coordinator.peers and time.monotonic() < deadline:
            self._turn(TICK_S)

    def _take_checkpoint(self) -> None:
        """Nodes send their last reports, then they may go."""
        coordinator = self.coordinator
        now = time.monotonic()
        job = coordinator.active
        for identity in coordinator.peers if job is not None else ():
            self._send(identity, Stop(job.name))
        end = now + CHECKPOINT_S
        while job is not None and time.monotonic() < end and not job.is_over and job.awaits_reports():
            self._receive(TICK_S)
        coordinator.suspend(now)  # time spent waiting for reports is not searching time
        log.info("checkpoint: the recovery file has everything that was reported")
        coordinator.end("checkpoint")

    def _turn(self, timeout_s: float) -> None:
        self._receive(timeout_s)
        self.coordinator.tick(time.monotonic())

    def _receive(self, timeout_s: float) -> None:
        socket = self._server.socket
        if not socket.poll(int(timeout_s * 1000)):
            return
        for _ in range(AT_ONCE):
            try:
                frames = socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            self._take(frames)

    def _take(self, frames: list[bytes]) -> None:
        identity = frames[0]
        if len(frames) != 2:
            self.coordinator.drop(identity, "not one frame")
            return
        try:
            message = self._reader.read(frames[1])
        except BadFrame as error:
            self.coordinator.drop(identity, str(error))
            if str(error).startswith("of another version"):
                self._send(identity, Rejected("the coordinator speaks another version of the protocol"))
            return
        self.coordinator.handle(identity, message, time.monotonic())

    def close(self) -> None:
        if self._server is not None:
            self._server.socket.setsockopt(zmq.LINGER, 500)
            self._server.close()
        if self._recovery is not None:
            self._recovery.close()
        self._context.destroy(linger=500)

    def __enter__(self) -> "CoordinatorServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
