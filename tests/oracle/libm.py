"""The C library's float32 functions: NumPy's own differ from them in the last bit."""

import ctypes
import ctypes.util

import numpy as np

library = ctypes.CDLL(ctypes.util.find_library("m"))


def float_function(name: str, arguments: int = 1):
    function = getattr(library, name)
    function.restype = ctypes.c_float
    function.argtypes = [ctypes.c_float] * arguments
    return lambda *values: np.float32(function(*values))


expf, logf, log1pf, expm1f = map(float_function, ("expf", "logf", "log1pf", "expm1f"))
powf = float_function("powf", 2)
