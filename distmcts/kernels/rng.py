"""Random numbers: one xoroshiro128++ stream per worker (Blackman and Vigna 2019), its state a pair of uint64.

The state lies in the worker's part of the shared segment, so that a replaced worker goes on with the same stream.
"""

import numpy as np

from distmcts.kernels.jit import kernel

_17 = np.uint64(17)
_21 = np.uint64(21)
_28 = np.uint64(28)
_32 = np.uint64(32)
_36 = np.uint64(36)
_47 = np.uint64(47)
_49 = np.uint64(49)
_15 = np.uint64(15)
_11 = np.uint64(11)


@kernel
def random_word(rng):
    """The next 64 random bits."""
    a = rng[0]
    b = rng[1]
    total = a + b
    word = ((total << _17) | (total >> _47)) + a
    b ^= a
    rng[0] = ((a << _49) | (a >> _15)) ^ b ^ (b << _21)
    rng[1] = (b << _28) | (b >> _36)
    return word


@kernel
def random_below(rng, limit):
    """A whole number in [0, limit), limit below 2^32; bias at most limit / 2^32 (Lemire's multiplication)."""
    return np.int64(((random_word(rng) >> _32) * np.uint64(limit)) >> _32)


@kernel
def random_rank(rng, limit):
    """A whole number in [0, limit), limit up to 2^63, without bias: bits are drawn until they are below the limit."""
    mask = np.uint64(limit - 1)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    while True:
        rank = np.int64(random_word(rng) & mask)
        if rank < limit:
            return rank


@kernel
def random_share(rng):
    """A float in [0, 1)."""
    return np.float64(random_word(rng) >> _11) * 2.0**-53


def seeded(seed: int, stream: int) -> np.ndarray:
    """The starting state of one stream; streams of one seed are independent."""
    return np.random.SeedSequence([seed, stream]).generate_state(2, np.uint64)
