"""Small steps of vector LLVM IR, for the intrinsics of the scans."""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir
from numba.core import cgutils

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))

# How far ahead of the scan to fetch: a page, which is also what hides a missing huge page.
PREFETCH_BYTES = 4096


def byte_pointer(context, builder, array_type, array) -> ir.Value:
    """Return the address of an array's first byte."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(data, I8.as_pointer())


def accumulator(builder, zero) -> ir.Value:
    """Return a variable that starts at ``zero``; only loaded and stored, it becomes a register."""
    variable = cgutils.alloca_once(builder, zero.type)
    builder.store(zero, variable)
    return variable


def load(builder, pointer, offset, element, count: int) -> ir.Value:
    """Load ``count`` elements at a byte offset, of any alignment."""
    address = builder.gep(pointer, [offset])
    vector = ir.VectorType(element, count)
    return builder.load(builder.bitcast(address, vector.as_pointer()), align=1)


def prefetch(builder, pointer, offset) -> None:
    """Ask for the cache line at a byte offset; an address outside of the array does no harm."""
    address = builder.gep(pointer, [offset])
    read, keep, data = I32(0), I32(3), I32(1)
    call(builder, "llvm.prefetch.p0", ir.VoidType(), [address, read, keep, data])


def call(builder, name: str, result, arguments) -> ir.Value:
    """Call an LLVM intrinsic by name."""
    function_type = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.call(function, arguments)


def constant(element, count: int, value: int) -> ir.Constant:
    """Return a vector that holds one constant everywhere."""
    return ir.Constant(ir.VectorType(element, count), [value] * count)


def splat(builder, value, count: int) -> ir.Value:
    """Return a vector that holds one run-time value everywhere."""
    undefined = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(undefined, value, I32(0))
    return shuffle(builder, first, first, [0] * count)


def shuffle(builder, a, b, indices: Iterable[int]) -> ir.Value:
    """Pick elements of ``a`` (from 0) and ``b`` (from its count on)."""
    picked = list(indices)
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(picked)), picked))


def sum_four(builder, sums) -> ir.Value:
    """Reduce four vectors of int32 to one of four: add pairs while transposing, then fold.

    Shuffles stay inside 128 bits, where they are cheap, until the last fold.
    """
    count = sums[0].type.count
    bases = range(0, count, 4)
    # Of every 128 bits, with a and b the two vectors: a0+a2, b0+b2, a1+a3, b1+b3.
    lower = [i for base in bases for i in (base, count + base, base + 1, count + base + 1)]
    first = _add_shuffles(builder, sums[0], sums[1], lower)
    second = _add_shuffles(builder, sums[2], sums[3], lower)
    # Then a, b, c, d.
    lower = [i for base in bases for i in (base, base + 1, count + base, count + base + 1)]
    folded = _add_shuffles(builder, first, second, lower)
    while folded.type.count > 4:
        half = folded.type.count // 2
        upper = shuffle(builder, folded, folded, range(half, 2 * half))
        folded = builder.add(shuffle(builder, folded, folded, range(half)), upper)
    return folded


def _add_shuffles(builder, a, b, lower):
    """Add the shuffle of ``a`` and ``b`` by ``lower`` and the one two elements further."""
    upper = [index + 2 for index in lower]
    return builder.add(shuffle(builder, a, b, lower), shuffle(builder, a, b, upper))
