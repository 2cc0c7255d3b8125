"""Positions are fixed-width arrays of uint64 words; copying one is a loop, since kernels allocate nothing."""

from distmcts.kernels.jit import inner


@inner
def copy_state(source, target):
    for i in range(source.size):
        target[i] = source[i]
