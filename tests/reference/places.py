"""Where the nodes of the plain search would lie in the engine's memory."""

from typing import Any


class Memory:
    """Where the engine would put nodes: a byte of a random word, chosen by the place, decides between equal scores.

    Children lie in runs of 2, 4, 8, ... places, the last run being as short as it can be, of an even length. Runs come one
    after the other; one that does not fit into the rest of a chunk of 4096 places begins the next chunk.
    """

    CHUNK = 4096

    def __init__(self) -> None:
        self.free = self.end = 2  # the root has the first run

    def add(self, parent: Any, child: Any, most: int) -> None:
        """`most`: how many children there can be."""
        number = len(parent.children)
        is_first_of_run = (number + 2).bit_count() == 1  # 0, 2, 6, 14, ...
        if is_first_of_run:
            length = min(number + 2, most - number)
            length += length % 2
            if self.end - self.free < length:
                self.free, self.end = self.end, self.end + self.CHUNK
            parent.run = self.free - number
            self.free += length
        child.place = parent.run + number
        parent.children.append(child)
