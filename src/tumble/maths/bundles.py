"""Bundles of arrays and numbers for compiled code, handed on by their address.

    class Rows(NamedTuple):
        places: np.ndarray
        gain: float

    rows = Address(Rows(places, 2.0))    # compiled code says rows.places[i], rows.gain

numba hands a named tuple on field by field, an array as its seven parts: hundreds of values at each call, to be
unpacked from Python and compiled. An address is one.

Traps: numbers are those of the time when the address was made; arrays are live, and must not be replaced.
"""

import ctypes
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numba.np.arrayobj import populate_array

WORD = ir.IntType(64)
_strided: set[type] = set()


def strided(bundle: type) -> type:
    """Decorator of a named tuple of live arrays of some simulations: one type, whatever their number of rows.

    The rows of one simulation are contiguous in memory, those of many are not: without it all is compiled twice.
    """
    _strided.add(bundle)
    return bundle


class _AddressType(types.Type):
    """Of the address of a block of 8-byte words: fields one after the other, see `Address`."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields = fields
        super().__init__(f"Address({name},{sha256(repr(fields).encode()).hexdigest()[:12]})")

    @property
    def key(self) -> Any:
        return self.name

    def place(self, name: str) -> tuple[int, types.Type] | None:
        """First word of a field, and its type."""
        word = 0
        for field, kind in self.fields:
            if field == name:
                return word, kind
            word += _words(kind)
        return None


def _words(kind: types.Type) -> int:
    """How many a field takes: an array has data, shape and strides; None has none."""
    if isinstance(kind, types.Array):
        return 1 + 2 * kind.ndim
    return 0 if kind is types.none else 1


class Address:
    """A named tuple or a dataclass for compiled code, by the address of a block in which it is laid down.

    Its arrays are live: compiled code reads and writes them. Numbers are as they were.

    Args:
      bundle: of arrays, numbers, bools, None and bundles of such.
    """

    __slots__ = ("_kept", "_numba_type_", "address")

    def __init__(self, bundle: Any) -> None:
        if not (hasattr(bundle, "_fields") or is_dataclass(bundle)):
            raise TypeError(f"an address is of a named tuple or a dataclass, got {type(bundle).__name__}")
        words: list[int] = []
        fields, kept = [], []
        for name, value in _fields(bundle):
            laid = _laid(value, type(bundle) in _strided)
            if laid is None:
                what = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
                raise TypeError(
                    f"{type(bundle).__name__}.{name} is an {what}: compiled code takes arrays of numbers, bools or"
                    " records, numbers, bools, None and named tuples of such"
                )
            kind, numbers, owner = laid
            fields.append((name, kind))
            words += numbers
            kept.append(owner)
        block = np.array(words or [0], np.int64)
        self._kept = (block, kept)
        self.address = block.ctypes.data
        self._numba_type_ = _AddressType(type(bundle).__name__, tuple(fields))

    def __reduce__(self) -> Any:
        raise TypeError("an address is of memory that stays where it is; copy the bundle, and make another of that")


def _fields(bundle: Any) -> list[tuple[str, Any]]:
    """Names and values; what a dataclass declares as float is one, so that its type is always the same."""
    if not is_dataclass(bundle):
        return list(zip(bundle._fields, bundle, strict=True))
    given = [(field.name, field.type, getattr(bundle, field.name)) for field in fields_of(bundle)]
    return [(name, float(value) if kind in (float, "float") else value) for name, kind, value in given]


def _laid(value: Any, any_stride: bool) -> tuple[types.Type, list[int], Any] | None:
    """Type and words of a field, and what must be kept as long as they are used; None for what cannot be laid down."""
    if value is None:
        return types.none, [], None
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.dtype.kind not in "biufV":
            return None
        kind = numba.typeof(value)
        kind = kind.copy(layout="A" if any_stride else kind.layout, readonly=False)
        return kind, [value.ctypes.data, *value.shape, *value.strides], value
    if isinstance(value, Address) or hasattr(value, "_fields") or is_dataclass(value):
        nested = value if isinstance(value, Address) else Address(value)
        return nested._numba_type_, [nested.address], nested
    if isinstance(value, bool | np.bool_):
        return types.boolean, [int(value)], None
    if isinstance(value, int | np.integer):
        return types.int64, [int(value)], None
    if isinstance(value, float | np.floating):
        return types.float64, [int(np.float64(value).view(np.int64))], None
    return None


@register_model(_AddressType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


@infer_getattr
class _AddressAttributes(AttributeTemplate):
    key = _AddressType

    def generic_resolve(self, kind: _AddressType, name: str) -> types.Type | None:
        place = kind.place(name)
        return place[1] if place else None


@lower_getattr_generic(_AddressType)
def _field(context: Any, builder: Any, kind: _AddressType, block: Any, name: str) -> Any:
    """Load a field from the block, which does not change while compiled code runs."""
    place = kind.place(name)
    assert place is not None  # it was typed
    word, field = place
    if field is types.none:
        return context.get_dummy_value()

    def load(index: int, wanted: Any = WORD) -> Any:
        where = builder.bitcast(builder.gep(block, [cgutils.int32_t(index)]), wanted.as_pointer())
        loaded = builder.load(where)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(field, types.Array):
        array = context.make_array(field)(context, builder)
        shape = [load(word + 1 + j) for j in range(field.ndim)]
        strides = [load(word + 1 + field.ndim + j) for j in range(field.ndim)]
        data = builder.inttoptr(load(word), array.data.type)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(field.dtype)))
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
        return impl_ret_borrowed(context, builder, field, array._getvalue())
    if isinstance(field, _AddressType):
        return builder.inttoptr(load(word), WORD.as_pointer())
    if field is types.boolean:
        return builder.icmp_unsigned("!=", load(word), WORD(0))
    return load(word, context.get_value_type(field))


@unbox(_AddressType)
def _unbox_address(kind: _AddressType, given: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(given, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, WORD.as_pointer()))


class Dice(NamedTuple):
    """A generator's random numbers for compiled code: addresses of its state and of the functions that draw from it.

    Python and compiled code may draw in turn. The generator must live as long.
    """

    state: int
    word: int
    share: int


def dice_of(rng: np.random.Generator) -> Dice:
    """The dice of a generator; what they show is drawn from it."""
    interface = rng.bit_generator.ctypes
    word, share = (ctypes.cast(draw, ctypes.c_void_p).value for draw in (interface.next_uint32, interface.next_double))
    assert word is not None and share is not None
    return Dice(interface.state_address, word, share)


def _drawn(kind: Any, word: Any, builder: Any, given: Any) -> Any:
    """A call of the function at an address with the state of a generator."""
    state, draw = given
    pointer = ir.FunctionType(word, [WORD]).as_pointer()
    drawn = builder.call(builder.inttoptr(draw, pointer), [state])
    return builder.zext(drawn, WORD) if kind is types.int64 else drawn


@intrinsic
def random_word(_context: Any, state: Any, word: Any) -> Any:
    """In compiled code: the next 32 random bits of some dice, as an integer."""

    def draw(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _drawn(types.int64, ir.IntType(32), builder, given)

    return types.int64(state, word), draw


@intrinsic
def random_share(_context: Any, state: Any, share: Any) -> Any:
    """In compiled code: the next number in [0, 1) of some dice."""

    def draw(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _drawn(types.float64, ir.DoubleType(), builder, given)

    return types.float64(state, share), draw


class _StackType(types.Type):
    """Of the address of a named tuple on the stack of a compiled function."""

    def __init__(self, target: Any) -> None:
        self.target = target
        digest = sha256(str(target).encode()).hexdigest()[:12]
        super().__init__(f"Stack({target.instance_class.__name__},{digest})")

    @property
    def key(self) -> Any:
        return self.target


@register_model(_StackType)
class _StackModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, manager.lookup(kind.target).get_value_type().as_pointer())


@infer_getattr
class _StackAttributes(AttributeTemplate):
    key = _StackType

    def generic_resolve(self, kind: _StackType, name: str) -> types.Type | None:
        target = kind.target
        return target[target.fields.index(name)] if name in target.fields else None


@lower_getattr_generic(_StackType)
def _stack_field(context: Any, builder: Any, kind: _StackType, address: Any, name: str) -> Any:
    place = kind.target.fields.index(name)
    loaded = builder.load(cgutils.gep_inbounds(builder, address, 0, place))
    return impl_ret_borrowed(context, builder, kind.target[place], loaded)


@intrinsic
def on_stack(_context: Any, bundle: Any) -> Any:
    """In compiled code: the address of a named tuple, valid until the function returns that calls this."""
    if not hasattr(bundle, "instance_class"):  # of a named tuple
        return None

    def put(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return cgutils.alloca_once_value(builder, given[0])

    return _StackType(bundle)(bundle), put
