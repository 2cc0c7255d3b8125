"""Trees on disk: saved whole or not at all, read without executing anything."""

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distmcts.errors import InputError
from distmcts.files import whole_file
from distmcts.kernels.layout import ALLOCATED, CAPACITY, CHUNK_END, CHUNK_NEXT
from distmcts.tree.memory import Arrays
from distmcts.tree.view import column_sizes, nodes_used

FORMAT = 3


class Snapshot(NamedTuple):
    path: Path
    description: dict[str, Any]
    trees: list[dict[str, np.ndarray]]  # the columns of each
    streams: np.ndarray  # random numbers of each worker
    chunks: np.ndarray  # reserved nodes of each worker

    def restore(self, arrays: Arrays) -> None:
        """Fill the trees of a new engine."""
        if len(arrays.trees) != len(self.trees):
            raise InputError(f"{self.path}: holds {len(self.trees)} trees, the settings ask for {len(arrays.trees)}")
        for tree, kept in zip(arrays.trees, self.trees, strict=True):
            if kept.keys() != column_sizes(tree).keys():
                differ = ", ".join(sorted(kept.keys() ^ column_sizes(tree).keys()))
                raise InputError(f"{self.path}: was saved by a search with other features (they differ in: {differ})")
            nodes = kept["extra"].size
            if nodes > tree.heap[CAPACITY]:
                raise InputError(f"{self.path}: holds {nodes} nodes a tree, memory is enough for {int(tree.heap[CAPACITY])}")
            for name, column in kept.items():
                getattr(tree, name)[: column.size] = column
            tree.heap[ALLOCATED] = nodes
        for worker, stream in zip(arrays.workers, self.streams, strict=False):
            worker.rng[:] = stream
        same_crew = len(arrays.workers) == len(self.chunks)
        for worker, chunk in zip(arrays.workers, self.chunks, strict=False):
            worker.slot[[CHUNK_NEXT, CHUNK_END]] = chunk if same_crew else 0  # with other workers, the reserves are lost


def save_snapshot(path: Path, description: dict[str, Any], arrays: Arrays) -> None:
    content = {"description": np.frombuffer(json.dumps({"format": FORMAT, **description}).encode(), np.uint8)}
    for i, tree in enumerate(arrays.trees):
        used = nodes_used(tree)
        for name, size in column_sizes(tree).items():
            content[f"tree_{i}_{name}"] = getattr(tree, name)[: used * size]
    content["streams"] = np.stack([worker.rng for worker in arrays.workers])
    content["chunks"] = np.stack([worker.slot[[CHUNK_NEXT, CHUNK_END]] for worker in arrays.workers])
    try:
        with whole_file(path) as file:
            np.savez(file, **content)
    except OSError as error:
        raise InputError(f"cannot save to {str(path)!r}: {error.strerror}") from None


def read_snapshot(path: Path) -> Snapshot:
    try:
        with np.load(path, allow_pickle=False) as content:
            description = json.loads(content["description"].tobytes())
            if description.get("format") != FORMAT:
                raise InputError(f"{path}: written by another version of distmcts (format {description.get('format')})")
            count = sum(name.endswith("_words") for name in content.files)
            trees: list[dict[str, np.ndarray]] = [{} for _ in range(count)]
            for name in content.files:
                if name.startswith("tree_"):
                    _, index, column = name.split("_", 2)
                    trees[int(index)][column] = content[name]
            streams, chunks = content["streams"], content["chunks"]
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: not a saved tree, or damaged") from None
    return Snapshot(path, description, trees, streams, chunks)
