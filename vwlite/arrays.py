"""Arrays that need NumPy only once somebody calculates with them.

To import NumPy takes as long as the rest of a short run, and half as much memory. But a run only hands its arrays
from one kernel to the next, which read them as buffers: so they are ``Array``, and ``np`` is imported once it is used.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from vwlite._native.arrays import SIZES, Numbers, to_float32

if TYPE_CHECKING:
    import numpy as np
else:

    class _Later:
        """NumPy, imported when something of it is asked for."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            return self.__dict__.setdefault(name, getattr(numpy, name))

    np = _Later()

__all__ = ["SIZES", "Array", "array", "np", "to_float32", "zeros"]


class Array(Numbers):
    """Numbers in one dimension or two. A number by its index is Python's; other indices, operators and methods are
    those of a NumPy array of the same bytes.
    """

    __slots__ = ()
    __hash__ = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist() if len(self.shape) == 1 else self.numpy())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.numpy(), name)


def _by_numpy(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)
    return lambda array, *others: function(array.numpy(), *others)


def _reflected(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)
    return lambda array, other: function(other, array.numpy())


def _in_place(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)

    def change(array: Array, other: Any) -> Array:
        function(array.numpy(), other)
        return array

    return change


for _name in ("lt", "le", "eq", "ne", "gt", "ge", "abs", "invert", "neg", "contains"):
    setattr(Array, f"__{_name}__", _by_numpy(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Array, f"__{_name}__", _by_numpy(f"__{_name}__"))
    setattr(Array, f"__r{_name}__", _reflected(f"__{_name}__"))
    setattr(Array, f"__i{_name}__", _in_place(f"__i{_name}__"))
for _name, _kind in (("bool", bool), ("repr", repr)):
    setattr(Array, f"__{_name}__", lambda array, _kind=_kind: _kind(array.numpy()))


def zeros(kind: str, rows: int, columns: int = 0) -> Array:
    """Zeros; ``kind`` as the module ``struct`` has it (``f`` float32, ``I`` uint32, ``B`` uint8, ...)."""
    return Array(None, kind, rows, columns)


def array(kind: str, numbers: Iterable[float]) -> Array:
    """One dimension of these numbers. Raises OverflowError for a whole one that does not fit."""
    numbers = list(numbers)
    made = zeros(kind, len(numbers))
    for place, number in enumerate(numbers):
        made[place] = number
    return made
