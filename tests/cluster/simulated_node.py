"""A cluster node that makes up a tree instead of searching. Otherwise it does what node.py, part.py and link.py do.

Its life is a generator: it yields how long it waits for an order, or how long it is busy, and is given the order that came.
"""

import random
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from distmcts.cluster.coordinator import BEAT_S
from distmcts.cluster.link import AGAIN_S, CLOSE_S, IDLE
from distmcts.cluster.merging import Told, pack
from distmcts.cluster.messages import (
    Beat,
    Ending,
    Go,
    Goodbye,
    Hello,
    Leave,
    Message,
    Prepare,
    Pulse,
    Ready,
    Received,
    Refused,
    Report,
    Stop,
    UnitDone,
    UnitFailed,
    Welcome,
    Who,
    Work,
)
from distmcts.cluster.node import IDLE_S
from distmcts.kernels.layout import SCALE
from distmcts.tree.share import Path, Statistic

if TYPE_CHECKING:
    from tests.cluster.simulated import World

FOREVER_S = 1e9


class GrowingTree:
    """Statistics as a search would make them: a simulation that passes a node passes its parent."""

    def __init__(self, choose: random.Random):
        self._choose = choose
        self._nodes: dict[Path, Statistic] = {(): Statistic(0, 0)}

    @property
    def visits(self) -> int:
        return self._nodes[()].visits

    def told(self) -> Told:
        return dict(self._nodes)

    def grow(self, simulations: int) -> None:
        path: Path = ()
        self._add(path, simulations)
        for _ in range(self._choose.randint(1, 3)):
            simulations = simulations if not path else self._choose.randint(0, simulations)
            if simulations:
                path = (*path, self._choose.randrange(3))
                self._add(path, simulations)

    def _add(self, path: Path, simulations: int) -> None:
        visits, value_sum = self._nodes.get(path, (0, 0))
        value = int((2 * self._choose.random() - 1) * SCALE)
        self._nodes[path] = Statistic(visits + simulations, value_sum + value * simulations)


class Busy(NamedTuple):
    seconds: float


class Terminated(Exception):
    """The node was asked to end, by a signal or by the coordinator."""


Life = Generator[float | Busy, Message | None, Any]


class SimulatedNode:
    """`rate`: simulations a second; `room`: after so many its memory is full; `refuses`: why it takes part in nothing;
    `breaks`: units that fail here."""

    def __init__(
        self,
        world: "World",
        name: str,
        epoch: int,
        rate: float = 1000.0,
        prepare_s: float = 0.2,
        unit_s: float = 0.3,
        room: int | None = None,
        refuses: str = "",
        breaks: frozenset[str] = frozenset(),
    ):
        self.world = world
        self.source = (name, epoch)
        self.identity = f"{name}/{epoch}".encode()
        self.rate, self.prepare_s, self.unit_s, self.room, self.refuses = rate, prepare_s, unit_s, room, refuses
        self.breaks = breaks
        self.is_alive = True
        self.is_cut = False
        self.beat = IDLE
        self.searched: set[str] = set()  # jobs
        self.tried: list[str] = []  # units, each as often as it was tried
        self._pending: dict[tuple[str, str], Message] = {}
        self._finished: dict[tuple[str, str], Message] = {}
        self._coordinator: str | None = None
        self._inbox: deque[Message] = deque()
        self._life = self._live()
        self._wait = 0  # number of the present one, so that the end of an earlier one wakes nobody
        self._is_busy = False
        self._is_leaving = False

    # ---- link -------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._step(None)
        self.world.after(0.0, lambda: self._turn(0))

    def _turn(self, number: int) -> None:
        """Every half second."""
        if not self.is_alive:
            return
        if self._coordinator is None:
            self._tell(Hello(*self.source, 4, "simulated"))
        self._tell(self.beat)
        if number % round(AGAIN_S / BEAT_S) == 0:
            for message in list(self._pending.values()):
                self._tell(message)
        self.world.after(BEAT_S, lambda: self._turn(number + 1))

    def _tell(self, message: Message) -> None:
        self.world.to_coordinator(self, message)

    def _send(self, message: Message) -> None:
        if isinstance(message, Refused) or isinstance(message, Report) and message.ending is not None:
            self._pending[message.job, ""] = message
        elif isinstance(message, UnitDone | UnitFailed):
            self._pending[message.job, message.unit] = message
        self._tell(message)

    def take(self, message: Message) -> None:
        match message:
            case Welcome() | Pulse():
                if self._coordinator != message.coordinator and isinstance(message, Pulse):
                    self._tell(Hello(*self.source, 4, "simulated"))
                self._coordinator = message.coordinator
            case Who():
                self._tell(Hello(*self.source, 4, "simulated"))
                self._tell(self.beat)
            case Received():
                self._pending.pop((message.job, message.unit), None)
            case Leave():
                self.leave()
            case _:
                self._inbox.append(message)
                if not self._is_busy:
                    self._wait += 1
                    self._step(self._inbox.popleft())

    # ---- ends -------------------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        self.is_alive = False
        self._life.close()

    def leave(self) -> None:
        """As after SIGTERM: what was searched is reported, then it says goodbye."""
        if self._is_leaving:
            return
        self._is_leaving = self._is_busy = True  # takes no more orders
        self._wait += 1
        with suppress(StopIteration):
            self._life.throw(Terminated)
        self._say_goodbye(self.world.now + CLOSE_S)

    def _say_goodbye(self, deadline: float) -> None:
        if self._pending and self.world.now < deadline:
            self.world.after(0.1, lambda: self.is_alive and self._say_goodbye(deadline))
        elif self.is_alive:
            self._tell(Goodbye("interrupted"))
            self.is_alive = False

    # ---- life -------------------------------------------------------------------------------------------------------------

    def _step(self, message: Message | None) -> None:
        """Go on until the node has to wait."""
        self._is_busy = False
        try:
            wanted = next(self._life) if message is None and self._wait == 0 else self._life.send(message)
            while not isinstance(wanted, Busy) and (self._inbox or wanted <= 0):
                wanted = self._life.send(self._inbox.popleft() if self._inbox else None)
        except StopIteration:
            return
        self._is_busy = isinstance(wanted, Busy)
        self._wait += 1
        number = self._wait
        seconds = wanted.seconds if isinstance(wanted, Busy) else wanted
        if seconds < FOREVER_S:
            self.world.after(seconds, lambda: self.is_alive and number == self._wait and self._step(None))

    def _live(self) -> Life:
        try:
            while True:
                message = yield FOREVER_S
                if isinstance(message, Prepare) and message.job in self.searched:
                    self._send(Refused(message.job, "has had its part in a search of this name already"))
                elif isinstance(message, Prepare):
                    yield from self._search(message)
                elif isinstance(message, Work):
                    yield from self._work(message)
        except Terminated:
            return

    def _search(self, prepare: Prepare) -> Life:
        job = prepare.job
        self.beat = Beat(job, "", "preparing", 0, 0)
        yield Busy(self.prepare_s)
        if self.refuses:
            self._send(Refused(job, self.refuses))
        else:
            yield from Part(self, prepare).take_part()
        self.beat = IDLE

    def _work(self, work: Work) -> Life:
        key = (work.job, work.unit)
        if key not in self._finished:
            self.beat = Beat(work.job, work.unit, "working", 0, 0)
            yield Busy(self.unit_s)
            self.tried.append(work.unit)
            if self.refuses:
                self._send(Refused(work.job, self.refuses))
                self.beat = IDLE
                return
            if work.unit in self.breaks:
                self._send(UnitFailed(work.job, work.unit, f"{self.source[0]}: broken"))
                self.beat = IDLE
                return
            self._finished[key] = UnitDone(work.job, work.unit, f'"{work.unit} by {self.source[0]}"')
        self._send(self._finished[key])
        self.beat = IDLE


class Part:
    """In one search."""

    def __init__(self, node: SimulatedNode, prepare: Prepare):
        self.node, self.world = node, node.world
        self.job, self.merge_s = prepare.job, prepare.search.merge_s
        self.tree = GrowingTree(node.world.choose)
        self.sequence = 0
        self.reported_at = 0.0
        self.has_begun = False
        self.deadline: float | None = None
        self.granted: int | None = None
        node.world.trees[node.source] = self.tree

    def take_part(self) -> Life:
        self._say("ready")
        self.node._send(Ready(self.job))
        reason = None
        try:
            while reason is None:
                reason = yield from self._orders(IDLE_S if self._is_waiting() else 0.0)
                if reason is None and not self._is_waiting():
                    reason = yield from self._slice()
                elif reason is None and self.has_begun and self.world.now - self.reported_at >= IDLE_S:
                    self._report()  # the last one may have got lost
        except Terminated:
            if self.has_begun:
                self._report("the node left")
            raise
        if self.has_begun:
            self._report(reason)

    def _say(self, state: str) -> None:
        self.node.beat = Beat(self.job, "", state, self.tree.visits, self.granted or 0)

    def _is_waiting(self) -> bool:
        if not self.has_begun:
            return True
        is_over = self.deadline is not None and self.world.now >= self.deadline
        return not is_over and self.granted is not None and self.tree.visits >= self.granted

    def _orders(self, timeout_s: float) -> Generator[float, Message | None, str | None]:
        message = yield timeout_s
        while message is not None:
            match message:
                case Stop(job=self.job):
                    return "stopped by the coordinator"
                case Go(job=self.job):
                    if not self.has_begun:
                        self.has_begun = True
                        self.node.searched.add(self.job)
                        self.deadline = None if message.seconds is None else self.world.now + message.seconds
                    if message.granted is not None:
                        self.granted = max(self.granted or 0, message.granted)
                    self._say("searching")
            message = yield 0.0
        return None

    def _slice(self) -> Generator[Busy, None, str | None]:
        node, tree = self.node, self.tree
        left_s = None if self.deadline is None else self.deadline - self.world.now
        if left_s is not None and left_s <= 0 and tree.visits:
            return "time"
        seconds = self.merge_s if left_s is None else max(0.001, min(self.merge_s, left_s))
        simulations = max(1, int(seconds * node.rate))
        if self.granted is not None:
            simulations = min(simulations, self.granted - tree.visits)
        if node.room is not None:
            simulations = min(simulations, node.room - tree.visits)
        yield Busy(max(0.001, simulations / node.rate))
        tree.grow(simulations)
        self._say("searching")
        if node.room is not None and tree.visits >= node.room:
            return "memory is full"
        if self.deadline is not None and self.world.now >= self.deadline:
            return "time"
        self._report()
        return None

    def _report(self, stopped_by: str | None = None) -> None:
        self.sequence += 1
        self.reported_at = self.world.now
        ending = None if stopped_by is None else Ending(stopped_by, 1.0, 0, 1, 1, 0.0, [])
        self.node._send(Report(self.job, *self.node.source, self.sequence, pack(self.tree.told()), {}, ending))
