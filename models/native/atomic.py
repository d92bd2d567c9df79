"""Operations on elements of shared arrays, for compiled loops of several threads."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Address of element ``args[1]`` of the one-dimensional array ``args[0]``."""
    kind, tools = signature.args[0], cgutils
    built = context.make_array(kind)(context, builder, args[0])
    helpers: Any = tools
    return helpers.get_item_pointer(context, builder, kind, built, [args[1]], wraparound=False)


def _prefetch(_context: Any, array: Any, _index: Any) -> Any:
    """Ask the processor to bring an element into its cache."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, flag = ir.PointerType(), ir.IntType(32)
        tools: Any = cgutils
        function = tools.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [place, flag, flag, flag]), "llvm.prefetch.p0"
        )
        builder.call(function, [_pointer(context, builder, signature, args), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _load(_context: Any, array: Any, _index: Any) -> Any:
    """Read a 64-bit element; what its writer wrote before it is seen, too."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, args), "acquire", 8)

    return array.dtype(array, types.intp), generate


def _replace(_context: Any, array: Any, _index: Any, _old: Any, _new: Any) -> Any:
    """Write ``new`` into a 64-bit element if it is ``old``. Tells whether it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        found = builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(array, types.intp, array.dtype, array.dtype), generate


def _add(_context: Any, array: Any, _index: Any, _more: Any) -> Any:
    """Add to a 64-bit element. Gives the old value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(context, builder, signature, args), args[2], "acq_rel")

    return array.dtype(array, types.intp, array.dtype), generate


prefetch: Any = intrinsic(_prefetch)
load: Any = intrinsic(_load)
replace: Any = intrinsic(_replace)
add: Any = intrinsic(_add)
