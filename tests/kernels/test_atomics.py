"""Atomics are exact between real processes on shared memory."""

import mmap

import multiprocess
import numpy as np

from distmcts.kernels.atomics import compare_and_swap, compare_and_swap_pair, fetch_add, load, store
from distmcts.kernels.jit import kernel

ROUNDS = 200_000
PROCESSES = 3


@kernel
def add_many(array, rounds):
    for _ in range(rounds):
        fetch_add(array, 0, 1)


@kernel
def add_many_by_swap(array, rounds):
    for _ in range(rounds):
        while True:
            before = load(array, 1)
            if compare_and_swap(array, 1, before, before + 1):
                break


@kernel
def add_many_pairs(array, rounds):
    """Both halves of a pair always change together: the second is minus three times the first."""
    torn = 0
    for _ in range(rounds):
        while True:
            a = load(array, 2)
            b = load(array, 3)
            if compare_and_swap_pair(array, 2, a, b, a + 1, b - 3):
                if b != -3 * a:
                    torn += 1
                break
    return torn


@kernel
def spin_until(array, index, value):
    while load(array, index) != value:
        pass


def in_processes(function, *args):
    context = multiprocess.get_context("fork")
    results = context.SimpleQueue()
    processes = [context.Process(target=lambda: results.put(function(*args))) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    answers = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return answers


def shared_array():
    return np.frombuffer(mmap.mmap(-1, 4096), np.int64)


def test_fetch_add_loses_nothing():
    array = shared_array()
    add_many(array, 0)
    in_processes(add_many, array, ROUNDS)
    assert array[0] == PROCESSES * ROUNDS


def test_compare_and_swap_loses_nothing():
    array = shared_array()
    add_many_by_swap(array, 0)
    in_processes(add_many_by_swap, array, ROUNDS)
    assert array[1] == PROCESSES * ROUNDS


def test_pairs_change_together():
    array = shared_array()
    add_many_pairs(array, 0)
    torn = in_processes(add_many_pairs, array, ROUNDS)
    assert torn == [0] * PROCESSES
    assert array[2] == PROCESSES * ROUNDS
    assert array[3] == -3 * PROCESSES * ROUNDS


def test_a_failed_swap_changes_nothing():
    array = shared_array()
    array[2:4] = 5, 6

    @kernel
    def swap(array):
        return compare_and_swap_pair(array, 2, 5, 7, 1, 1), compare_and_swap(array, 0, 9, 1)

    assert swap(array) == (False, False)
    assert array[:4].tolist() == [0, 0, 5, 6]


def test_a_loop_on_load_sees_the_change():
    """A plain read would be hoisted out of the loop, and this would never end."""
    array = shared_array()

    @kernel
    def set_flag(array):
        store(array, 5, 1)

    spin_until(array, 5, 0)
    set_flag(array)
    array[5] = 0
    context = multiprocess.get_context("fork")
    waiting = context.Process(target=spin_until, args=(array, 5, 1))
    waiting.start()
    set_flag(array)
    waiting.join(20)
    assert waiting.exitcode == 0
