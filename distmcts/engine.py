"""An engine: one game, one position, its trees and its workers, kept between searches."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from distmcts.answer import at_chance, best_row, make_result, moves_after, names_of, places
from distmcts.budget import make_budget
from distmcts.demands import adds_whole_families, check_settings, mode_of, needs_of
from distmcts.errors import GameError, InputError, SearchError
from distmcts.game import Game, State
from distmcts.kernels.layout import CHUNK_END, CHUNK_NEXT, ROOT_MOVER
from distmcts.kernels.rng import seeded
from distmcts.kernels.rules import CHANCE
from distmcts.parallel.drive import Crew, Drive, Effort
from distmcts.parallel.inline import Inline
from distmcts.parallel.names import TREE
from distmcts.parallel.sampler import Sampler
from distmcts.parallel.scheme import Scheme
from distmcts.parallel.stoppers import Decided, MemoryFull, Progress, Proven, Seconds, Stopper
from distmcts.parallel.threads import Threads
from distmcts.parallel.workers import Processes
from distmcts.registry import load_game
from distmcts.result import Result
from distmcts.settings import SearchSettings, make_settings
from distmcts.tree import view
from distmcts.tree.audit import Audit, audit_tree, audit_workers
from distmcts.tree.compact import keep_subtree
from distmcts.tree.memory import lay_out
from distmcts.tree.merge import MergedMove, merged
from distmcts.tree.segment import shared_backing
from distmcts.tree.snapshot import read_snapshot, save_snapshot

LINES = 50  # moves whose principal variation is looked up; a game may have hundreds of thousands


class Engine:
    """Searches one position after another. Owns processes and shared memory: use it with `with`, or call `close`.

    with distmcts.Engine("awale", workers=8) as engine:
        result = engine.search(seconds=1)
    """

    _closed = True  # until there is something to close

    def __init__(
        self,
        game: Any,
        state: State | str | None = None,
        *,
        on_status: Callable[[str], None] | None = None,
        game_parameters: dict[str, Any] | None = None,
        **settings: Any,
    ):
        """Blocks while kernels are compiled (the first time) or loaded, and workers are started."""
        self.settings: SearchSettings = make_settings(**settings)
        self.game: Game = load_game(game, **(game_parameters or {}))
        self.state = self.game.start_position(state)
        check_settings(self.game, self.settings)
        self._seed = self.settings.seed if self.settings.seed is not None else int.from_bytes(os.urandom(6), "little")
        scheme_class = self.settings.scheme
        workers = scheme_class.worker_count(self.settings.workers)
        self._needs = needs_of(self.game, self.settings)
        trees = scheme_class.tree_count(workers)
        backing = self._backing(scheme_class)
        self._segment, self._arrays = lay_out(self.game, self.settings.memory, workers, trees, self._needs, backing)
        self._closed = False
        self._last: Effort | None = None
        self._scheme: Scheme | None = None
        self._crew: Crew | None = None
        self._has_old_root = False  # whether workers must start anew to know the position
        try:
            for index, worker in enumerate(self._arrays.workers):
                worker.rng[:] = seeded(self._seed, index)
            self._arrays.shared.control[ROOT_MOVER] = self._before(self.state)
            mode = mode_of(self.game, self.settings)
            self._scheme = scheme_class(self.game, self._arrays, self.settings.for_kernels(), mode)
            self._scheme.set_root(self.state)
            if on_status:
                on_status("compiling")
            self._scheme.compile()
            if on_status:
                on_status("starting workers")
            self._crew = self._make_crew()
        except BaseException:
            self.close()
            raise

    def _backing(self, scheme_class: type[Scheme]) -> str:
        is_shared = not scheme_class.in_process and self.settings.backend == "process"
        if self.settings.backing == "auto":
            return shared_backing() if is_shared else "private"
        if self.settings.backing == "private" and is_shared:
            raise InputError("backing='private': worker processes cannot share private memory")
        return self.settings.backing

    # ---- what a search needs ----------------------------------------------------------------------------------------------

    def _make_crew(self) -> Crew:
        loops = [self._scheme.guarded_loop(index) for index in range(len(self._arrays.workers))]
        if self._scheme.in_process:
            return Inline(loops, 1) if self.game.in_python else Inline(loops)
        if self.settings.backend == "thread":
            return Threads(loops)
        return Processes(loops, self._segment.forget_name, self.settings.pin)

    # ---- searching --------------------------------------------------------------------------------------------------------

    def search(
        self,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result:
        """Search on from where the trees are. Blocks until the budget is used up; returns what was found.

        The budget is that of this search: earlier ones stay in the tree. Ctrl-C leaves the trees whole, see `result`.
        """
        self.run(simulations=simulations, seconds=seconds, on_progress=on_progress)
        return self.result()

    def run(
        self,
        *,
        simulations: int | None = None,
        seconds: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Effort:
        """Search like `search`, and block like it, without a result: that takes longer to put together than a small search."""
        self._alive()
        self.game.check_not_over(self.state)
        simulations, seconds = make_budget(simulations, seconds)
        stoppers: list[Stopper] = [Seconds(seconds)] if seconds is not None else []
        if self.settings.when_full == "stop":
            stoppers.append(MemoryFull())
        if self.settings.stop_when_decided and not self._at_chance():
            stoppers.append(Decided(2 * self.settings.stay))  # of one worker that is alone, and of all others together
        if self.settings.solver:
            stoppers.append(Proven(self._arrays.trees))
        if self._has_old_root:  # workers of a game in Python know the position from their fork
            self._crew.close()
            self._crew = self._make_crew()
            self._has_old_root = False
        drive = Drive(self._scheme, self._crew, simulations, seconds, stoppers, on_progress)
        try:
            self._last = drive.run()
        except KeyboardInterrupt:
            self._last = drive.effort("interrupted")
            raise
        self._check_guards()
        return self._last

    def _check_guards(self) -> None:
        """Whether the game has written beyond the buffers it was given."""
        for name, guards in self._arrays.guards.items():
            if any(guard.any() for guard in guards):
                for guard in guards:
                    guard[:] = 0
                raise GameError(
                    f"{self.game.name}: wrote beyond the end of its buffer for {name} in a search from position "
                    f"{self.game.format(self.state)!r}; `distmcts games check` tests a game"
                )

    def best_move(self) -> int | None:
        """The move to play, as far as is known now; None at a chance event. `result` tells more and takes longer."""
        return None if self._at_chance() else best_row(self._rows(), self.settings.final).move

    def _at_chance(self) -> bool:
        return at_chance(self.game, self.state)

    def _rows(self) -> list[MergedMove]:
        self._alive()
        rows = merged(self._arrays.trees)
        if not rows or not self._last:
            raise SearchError("nothing has been searched yet")
        return rows

    def result(self) -> Result:
        """What is known now, after the last search."""
        rows = self._rows()
        lines = self.lines([row.move for row in rows[:LINES]])
        return make_result(
            self.game,
            self.state,
            rows,
            final=self.settings.final,
            lines={move: names_of(self.game, self.state, line) for move, line in lines.items()},
            before=int(self._arrays.shared.control[ROOT_MOVER]),
            simulations=self._last.simulations,
            elapsed_s=self._last.elapsed_s,
            stopped_by=self._last.stopped_by,
            nodes=self.nodes_used(),
            bytes_used=self.bytes_used(),
            replaced_workers=self._last.replaced,
            longest_stall_s=self._last.longest_stall_s,
            settings={**self.settings.model_dump(), "seed": self._seed},
        )

    def lines(self, moves: Sequence[int]) -> dict[int, list[int]]:
        """How play goes on after some moves at the root, each move itself first."""
        where = places(self._arrays.trees)
        return {move: moves_after(self.game, self.state, move, *where[move]) for move in moves}

    def nodes_used(self) -> int:
        """Without those that workers have reserved and not used."""
        reserved = sum(int(worker.slot[CHUNK_END] - worker.slot[CHUNK_NEXT]) for worker in self._arrays.workers)
        return sum(view.nodes_used(tree) for tree in self._arrays.trees) - reserved

    def bytes_used(self) -> int:
        return self.nodes_used() * self._needs.bytes_per_node()

    # ---- from one position to the next ----------------------------------------------------------------------------------

    def advance(self, move: int) -> None:
        """Play a move, and keep what is known about the position after it. Blocks while the tree is compacted."""
        self._alive()
        mover = self.game.player(self.state)
        if mover == CHANCE:  # an outcome is seen by who moved into the chance event
            mover = int(self._arrays.shared.control[ROOT_MOVER])
        state = self.game.apply(self.state, move)
        self._restart(state, mover, {int(move)})

    def set_position(self, state: State | str) -> None:
        """Go to another position; everything known is forgotten."""
        self._alive()
        state = self.game.start_position(state)
        self._restart(state, self._before(state), set())

    def _before(self, state: State) -> int:
        """The player by whom the root's value is seen: the one before the player to move; at a chance event player 0."""
        player = self.game.player(state)
        return 0 if player == CHANCE else (player - 1) % self.game.players

    def _restart(self, state: State, root_mover: int, kept_moves: set[int]) -> None:
        for index, tree in enumerate(self._arrays.trees):
            writers = self._arrays.workers if len(self._arrays.trees) == 1 else [self._arrays.workers[index]]
            kept = next((child.node for child in view.children(tree) if child.move in kept_moves), None)
            keep_subtree(tree, kept, writers)
        self.state = state
        self._scheme.set_root(state)
        self._arrays.shared.control[ROOT_MOVER] = root_mover
        self._last = None
        self._has_old_root = self.game.in_python

    def save(self, path: str | os.PathLike) -> None:
        """Write the trees and all that is needed to go on with them to a file, whole or not at all."""
        self._alive()
        save_snapshot(Path(path), self._description(), self._arrays)

    @classmethod
    def load(cls, path: str | os.PathLike, **settings: Any) -> "Engine":
        """An engine that goes on from a file written by `save`. Settings given here replace those in the file."""
        snapshot = read_snapshot(Path(path))
        about = snapshot.description
        game = load_game(about["game"], **about["game_parameters"])
        if game.type_name != about["type_name"]:
            raise InputError(f"{path}: was saved with other rules of {about['game']} than those installed now")
        given = {**about["settings"], **settings}
        if adds_whole_families(game, make_settings(**given)) != adds_whole_families(game, make_settings(**about["settings"])):
            raise InputError(f"{path}: was saved with selection={about['settings']['selection']!r}, whose trees grow differently")
        engine = cls(game, game.state(about["state"]), **given)
        try:
            engine._arrays.shared.control[ROOT_MOVER] = about["root_mover"]
            snapshot.restore(engine._arrays)
        except BaseException:
            engine.close()
            raise
        return engine

    def _description(self) -> dict[str, Any]:
        return {
            "game": self.game.name,
            "game_parameters": self.game.parameters,
            "type_name": self.game.type_name,
            "state": self.game.pack(self.state),
            "root_mover": int(self._arrays.shared.control[ROOT_MOVER]),
            "settings": {**self.settings.model_dump(), "seed": self._seed},
        }

    # ---- looking inside ---------------------------------------------------------------------------------------------------

    def audit(self) -> list[Audit]:
        """Check the conservation laws of every tree; raises AuditError if one is broken. Blocks for a while on large trees."""
        self._alive()
        problems = audit_workers(self._arrays.shared, self._arrays.workers)
        audits = [audit_tree(tree) for tree in self._arrays.trees]
        audits[0] = audits[0]._replace(problems=(*problems, *audits[0].problems))
        return [audit.check() for audit in audits]

    @property
    def trees(self) -> list:
        """The trees, to look at with distmcts.tree.view."""
        return self._arrays.trees

    def sampler(self) -> Sampler:
        """Sees what workers spend their time on: `with engine.sampler() as sampler: engine.search(...)`."""
        self._alive()
        return Sampler(self._arrays.shared, self._arrays.workers)

    def worker_pids(self) -> list[int]:
        self._alive()
        return self._crew.pids()

    # ---- ending -----------------------------------------------------------------------------------------------------------

    def _alive(self) -> None:
        if self._closed:
            raise SearchError("this engine is closed")

    def close(self) -> None:
        """End the workers and give the memory back. Can be called twice."""
        if self._closed:
            return
        self._closed = True
        if self._crew is not None:
            self._crew.close()
        if self._scheme is not None:
            self._scheme.close()
        self._scheme = self._crew = self._arrays = None
        self._segment.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def search(
    game: Any,
    state: State | str | None = None,
    *,
    simulations: int | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    parallel: str = TREE,
    seed: int | None = None,
    **settings: Any,
) -> Result:
    """Search one position and return what was found. Blocks until the budget is used up (5 seconds if none is given)."""
    with Engine(game, state, workers=workers, parallel=parallel, seed=seed, **settings) as engine:
        return engine.search(simulations=simulations, seconds=seconds)
