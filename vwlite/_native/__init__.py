"""Compiled kernels; built from ``cython_ext/``."""

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

from vwlite.errors import NotBuilt

FOLDER = os.path.dirname(os.path.abspath(__file__))

if not any(os.path.exists(os.path.join(FOLDER, f"shared{suffix}")) for suffix in EXTENSION_SUFFIXES):
    raise NotBuilt(
        f"the kernels in {FOLDER} are not built for {sys.executable}: run 'make' or 'pip install .' in "
        f"{os.path.dirname(os.path.dirname(FOLDER))}; where vwlite is installed, 'python -P -m vwlite' finds that one"
    )
