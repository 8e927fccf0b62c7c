"""Builds the Cython kernels of ``cython_ext/`` as ``vwlite._native.*``."""

import os
import re
import sys
import sysconfig
from pathlib import Path

if sys.platform == "win32":
    sys.exit("vwlite runs on Linux and macOS; on Windows it runs in WSL")

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

from distutils.command.install_data import install_data  # isort: skip  (setuptools brings it along)

DEBUG = os.environ.get("VWLITE_DEBUG") == "1"
ANNOTATE = os.environ.get("VWLITE_ANNOTATE") == "1"
SANITIZE = os.environ.get("VWLITE_SANITIZE", "").split()
# A wheel is for this Python and all later ones (abi3), but not for those without GIL, whose ABI is another.
LIMITED = "bdist_wheel" in sys.argv and not (DEBUG or SANITIZE or sysconfig.get_config_var("Py_GIL_DISABLED"))
LEAST = (3, 11)  # as requires-python has it
# What pip asks for first, in processes that do not know yet that a wheel is next, and of what kind its kernels are.
METADATA = {"egg_info", "dist_info"}.intersection(sys.argv)
# One folder for each kind of build and Python, so that none takes another's C code or objects for its own.
KIND = "debug" if DEBUG else "annotate" if ANNOTATE else "abi3" if LIMITED else "release"
BUILD = f"build/{KIND}-{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
# Python's own flags ask for debug data, which is four fifths of a module and a quarter of the compiler's time.
QUICK = os.environ.get("VWLITE_QUICK_BUILD") == "1"  # where only what is built matters, not how fast it is
OPTIMIZE = ["-O1", "-g"] if DEBUG else ["-O0" if QUICK else "-O3", "-g0"]
STRIP = ["-s"] if sys.platform == "linux" and not (DEBUG or SANITIZE) else []
# Results must not depend on whether the compiler fuses multiplications and additions.
PORTABLE = ["-ffp-contract=off", "-fno-math-errno", "-Wno-unreachable-code"]
SHARED = "vwlite._native.shared"  # Cython's code for memoryviews and functions, once for all kernels
TESTING = "vwlite._native.testing"  # for the tests of a source tree; no part of a wheel
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Build(build_ext):
    """Says which kernel is compiled; the last one that is named may be done first."""

    command_name = "build_ext"  # distutils looks up the options by it, else by the name of the class

    def run(self):
        if not (self.inplace or self.editable_mode):
            self.extensions = [one for one in self.extensions if one.name != TESTING]
        super().run()

    def build_extensions(self):
        self.stale = [one.name for one in self.extensions if self.is_stale(one)]
        self.named = 0
        super().build_extensions()

    def is_stale(self, ext):
        """As setuptools decides it."""
        return self.force or newer_group([*ext.sources, *ext.depends], self.get_ext_fullpath(ext.name), "newer")

    def build_extension(self, ext):
        if ext.name in self.stale:
            self.named += 1
            print(f"[{self.named:2}/{len(self.stale)}] {ext.name.rpartition('.')[2]}", flush=True)
        super().build_extension(ext)


class Manual(install_data):
    """Puts man pages into the wheel, made from the declarations of the options."""

    def run(self):
        sys.path.insert(0, os.getcwd())
        from vwlite.cli.manual import released, write

        date = released(Path("CHANGELOG.md").read_text(encoding="utf-8"))
        self.data_files = [("share/man/man1", [str(path) for path in write(Path(BUILD, "man"), date)])]
        super().run()


def extension(name, source):
    return Extension(
        name,
        [source],
        include_dirs=["cython_ext"],
        extra_compile_args=OPTIMIZE + PORTABLE + SANITIZE,
        extra_link_args=STRIP + SANITIZE,
        define_macros=[("Py_LIMITED_API", f"0x{LEAST[0]:02X}{LEAST[1]:02X}0000")] if LIMITED else [],
        py_limited_api=LIMITED,
    )


def sources():
    """The extensions, but for the one that they share, as they are written."""
    found = sorted(Path("cython_ext").glob("*/*.pyx"))
    return [extension(f"vwlite._native.{source.stem}", str(source)) for source in found]


def translated(kernels):
    """All extensions, each with its C code; what takes the longest to compile comes first."""
    print(f"translating {len(kernels)} kernels to C", flush=True)
    before = Path("setup.py").stat().st_mtime
    extensions = cythonize(
        [extension(SHARED, "cython_ext/shared.c"), *kernels],
        include_path=["cython_ext"],
        build_dir=BUILD,
        annotate=ANNOTATE,
        nthreads=CORES,
        quiet=True,
        force=DEBUG or ANNOTATE or any(path.stat().st_mtime < before for path in Path(BUILD).rglob("*.c")),
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    )
    for one in extensions:
        one.depends = ["setup.py", *headers(one.sources[0])]
    return sorted(extensions, key=lambda one: -Path(one.sources[0]).stat().st_size)


def headers(source):
    """The project's headers that a C file includes, by itself or through other headers."""
    found, unread = set(), {source}
    while unread:
        text = Path(unread.pop()).read_text()
        named = (f"cython_ext/{name}" for name in re.findall(r'^ *# *include "(\w+/\S+)"', text, re.M))
        new = {name for name in named if Path(name).is_file()} - found
        found |= new
        unread |= new
    return sorted(found)


if __name__ == "__main__":  # processes that translate import this file
    setup(
        ext_modules=sources() if METADATA else translated(sources()),
        cmdclass={"build_ext": Build, "install_data": Manual},
        data_files=[("share/man/man1", [])],
        # Folders of build_ext's own: an editable install gives it temporary ones, and all is compiled once more.
        options={
            "build": {"build_base": BUILD, "build_lib": f"{BUILD}/lib", "parallel": CORES},
            "bdist_wheel": {"py_limited_api": "cp{}{}".format(*LEAST)} if LIMITED else {},
            "build_ext": {"build_temp": f"{BUILD}/objects", "build_lib": f"{BUILD}/lib"},
        },
    )
