"""Bit operations on machine words, for kernels and for games on bitboards. One instruction each."""

import struct

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:

    def count_ones(word):
        return int(word).bit_count()

    def lowest_one(word):
        word = int(word)
        return (word & -word).bit_length() - 1

    def highest_one(word):
        return int(word).bit_length() - 1

    def float_bits(number):
        return np.int64(struct.unpack("<q", struct.pack("<d", number))[0])

    def float_of_bits(word):
        return struct.unpack("<d", struct.pack("<Q", int(word)))[0]

else:

    @intrinsic
    def count_ones(typing_context, word):
        """How many bits of a uint64 are 1."""

        def generate(context, builder, signature, args):
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @intrinsic
    def lowest_one(typing_context, word):
        """Position of the lowest 1 of a uint64 that is not 0."""

        def generate(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), generate

    @intrinsic
    def highest_one(typing_context, word):
        """Position of the highest 1 of a uint64 that is not 0."""

        def generate(context, builder, signature, args):
            zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.uint64), generate

    @intrinsic
    def float_bits(typing_context, number):
        """The 64 bits of a float64."""

        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), generate

    @intrinsic
    def float_of_bits(typing_context, word):
        """The float64 that has these 64 bits."""

        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.uint64), generate
