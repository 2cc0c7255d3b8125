"""The engine's random numbers in plain Python: xoroshiro128++ (Blackman and Vigna 2019), and how ranges are drawn from it."""

import numpy as np

WORD = (1 << 64) - 1


def turned_left(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & WORD


class RandomWords:
    """The stream of one worker of a search with this seed."""

    def __init__(self, seed: int, worker: int = 0):
        self.a, self.b = (int(word) for word in np.random.SeedSequence([seed, worker]).generate_state(2, np.uint64))

    def word(self) -> int:
        """64 random bits."""
        word = (turned_left((self.a + self.b) & WORD, 17) + self.a) & WORD
        mixed = self.a ^ self.b
        self.a = turned_left(self.a, 49) ^ mixed ^ (mixed << 21 & WORD)
        self.b = turned_left(mixed, 28)
        return word

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit - 1: the upper half of a word, as a share of the limit (Lemire)."""
        return (self.word() >> 32) * limit >> 32

    def rank(self, limit: int) -> int:
        """The same without any bias: as many bits as limit - 1 has, again and again until they are below the limit."""
        while True:
            rank = self.word() & ((1 << (limit - 1).bit_length()) - 1)
            if rank < limit:
                return rank

    def share(self) -> float:
        """A float from 0 to 1, not 1 itself."""
        return (self.word() >> 11) * 2.0**-53
