"""Atomic operations on one element of an array that several processes share.

numba has none for the CPU, LLVM has all of them. Every field that another process may write is read and written through
this file; a plain read may be hoisted out of a loop and then never sees the change.

With NUMBA_DISABLE_JIT=1 one process runs at a time, so the plain Python bodies below are exact.
"""

import os

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

if config.DISABLE_JIT:

    def fetch_add(array, index, amount):
        before = array[index]
        array[index] = before + array.dtype.type(amount)
        return before

    def load(array, index):
        return array[index]

    def store(array, index, value):
        array[index] = value

    def compare_and_swap(array, index, expected, wanted):
        same = bool(array[index] == expected)
        if same:
            array[index] = wanted
        return same

    def compare_and_swap_pair(array, index, expected_0, expected_1, wanted_0, wanted_1):
        same = bool(array[index] == expected_0 and array[index + 1] == expected_1)
        if same:
            array[index] = wanted_0
            array[index + 1] = wanted_1
        return same

    def keep_order():
        pass

    def fetch_for_writing(array, index):
        pass

    def yield_core():
        os.sched_yield()

else:

    def _pointer(context, builder, array_type, array, index_type, index):
        view = make_array(array_type)(context, builder, array)
        position = context.cast(builder, index, index_type, types.intp)
        return cgutils.get_item_pointer(context, builder, array_type, view, [position], wraparound=False)

    @intrinsic
    def fetch_add(typing_context, array, index, amount):
        """Add; return the value before. Relaxed: only the sum matters, nothing is published by it."""

        def generate(context, builder, signature, args):
            array_type = signature.args[0]
            pointer = _pointer(context, builder, array_type, args[0], signature.args[1], args[1])
            value = context.cast(builder, args[2], signature.args[2], array_type.dtype)
            return builder.atomic_rmw("add", pointer, value, "monotonic")

        return array.dtype(array, index, amount), generate

    @intrinsic
    def load(typing_context, array, index):
        """Acquire: what was written before the matching `store` is seen after this. A plain move on x86-64."""

        def generate(context, builder, signature, args):
            array_type = signature.args[0]
            pointer = _pointer(context, builder, array_type, args[0], signature.args[1], args[1])
            return builder.load_atomic(pointer, "acquire", array_type.dtype.bitwidth // 8)

        return array.dtype(array, index), generate

    @intrinsic
    def store(typing_context, array, index, value):
        """Release: publishes all that was written before it. A plain move on x86-64."""

        def generate(context, builder, signature, args):
            array_type = signature.args[0]
            pointer = _pointer(context, builder, array_type, args[0], signature.args[1], args[1])
            wanted = context.cast(builder, args[2], signature.args[2], array_type.dtype)
            builder.store_atomic(wanted, pointer, "release", array_type.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(array, index, value), generate

    @intrinsic
    def compare_and_swap(typing_context, array, index, expected, wanted):
        """Write `wanted` if the element is `expected`; return whether it was. Acquire and release: it takes locks."""

        def generate(context, builder, signature, args):
            array_type = signature.args[0]
            pointer = _pointer(context, builder, array_type, args[0], signature.args[1], args[1])
            old = context.cast(builder, args[2], signature.args[2], array_type.dtype)
            new = context.cast(builder, args[3], signature.args[3], array_type.dtype)
            return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic"), 1)

        return types.boolean(array, index, expected, wanted), generate

    @intrinsic
    def compare_and_swap_pair(typing_context, array, index, expected_0, expected_1, wanted_0, wanted_1):
        """The same for two neighbouring int64 at once; their address must be a multiple of 16.

        One instruction on x86-64 (cmpxchg16b) and on ARM (casp). It lets a visit and its reward arrive together.
        """

        def generate(context, builder, signature, args):
            pointer = _pointer(context, builder, signature.args[0], args[0], signature.args[1], args[1])
            wide = ir.IntType(128)

            def join(low, high):
                shifted = builder.shl(builder.zext(high, wide), ir.Constant(wide, 64))
                return builder.or_(builder.zext(low, wide), shifted)

            pointer = builder.bitcast(pointer, wide.as_pointer())
            outcome = builder.cmpxchg(pointer, join(*args[2:4]), join(*args[4:6]), "acq_rel", "monotonic")
            return builder.extract_value(outcome, 1)

        return types.boolean(array, index, types.int64, types.int64, types.int64, types.int64), generate

    @intrinsic
    def keep_order(typing_context):
        """Forbid the compiler to move memory accesses across this point. Costs no instruction.

        Enough for the journal of a worker (layout.py): whoever reads it does so after the worker's death, when all its
        executed stores have reached memory, and a kill falls between two instructions.
        """

        def generate(context, builder, signature, args):
            builder.fence("seq_cst", targetscope="singlethread")
            return context.get_dummy_value()

        return types.void(), generate

    @intrinsic
    def fetch_for_writing(typing_context, array, index):
        """Ask for the cache line of an element that will be written soon, and do not wait for it."""

        def generate(context, builder, signature, args):
            pointer = _pointer(context, builder, signature.args[0], args[0], signature.args[1], args[1])
            address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            function_type = ir.FunctionType(ir.VoidType(), [address, number, number, number])
            prefetch = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
            for_writing, keep_near, data = number(1), number(3), number(1)
            builder.call(prefetch, [builder.bitcast(pointer, address), for_writing, keep_near, data])
            return context.get_dummy_value()

        return types.void(array, index), generate

    @intrinsic
    def yield_core(typing_context):
        """Let another process run on this core; for waiting when there are more workers than cores."""

        def generate(context, builder, signature, args):
            function_type = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function_type, "sched_yield"), [])
            return context.get_dummy_value()

        return types.void(), generate
