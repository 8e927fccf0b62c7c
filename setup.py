"""Builds the Cython kernels of ``cython_ext/`` as ``vwlite._native.*``."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("VWLITE_DEBUG") == "1"
ANNOTATE = os.environ.get("VWLITE_ANNOTATE") == "1"
# One folder for each kind of build, so that no kind takes another's C code or objects for its own.
BUILD = "build/" + ("debug" if DEBUG else "annotate" if ANNOTATE else "release")
SANITIZE = os.environ.get("VWLITE_SANITIZE", "").split()
OPTIMIZE = ["-O1", "-g"] if DEBUG else ["-O3"]
# Results must not depend on whether the compiler fuses multiplications and additions.
PORTABLE = ["-ffp-contract=off", "-fno-math-errno", "-Wno-unreachable-code"]

extensions = [
    Extension(
        f"vwlite._native.{source.stem}",
        [str(source)],
        include_dirs=["cython_ext"],
        depends=["setup.py", *map(str, sorted(Path("cython_ext/core").glob("*")))],
        extra_compile_args=OPTIMIZE + PORTABLE + SANITIZE,
        extra_link_args=SANITIZE,
    )
    for folder in ("cython_ext", "cython_ext/learners")
    for source in sorted(Path(folder).glob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        extensions,
        include_path=["cython_ext"],
        build_dir=BUILD,
        annotate=ANNOTATE,
        force=DEBUG or ANNOTATE,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
    options={"build": {"build_base": BUILD, "parallel": os.cpu_count()}},
)
