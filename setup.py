"""Builds the Cython kernels of ``cython_ext/`` as ``vwlite._native.*``."""

import gc
import os
import re
import sys
import sysconfig
from concurrent.futures import ProcessPoolExecutor, as_completed
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
# One folder for each kind of build and Python, so that none takes another's C code or objects for its own.
KIND = "debug" if DEBUG else "annotate" if ANNOTATE else "abi3" if LIMITED else "release"
BUILD = f"build/{KIND}-{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
TRANSLATED = os.environ.get("VWLITE_TRANSLATED", False)  # a folder of C code that several builds share
# Python's own flags ask for debug data, which is four fifths of a module and a quarter of the compiler's time.
QUICK = os.environ.get("VWLITE_QUICK_BUILD") == "1"  # where only what is built matters, not how fast it is
OPTIMIZE = ["-O1", "-g"] if DEBUG else ["-O0" if QUICK else "-O3", "-g0"]
STRIP = ["-s"] if sys.platform == "linux" and not (DEBUG or SANITIZE) else []
# Results must not depend on whether the compiler fuses multiplications and additions.
PORTABLE = ["-ffp-contract=off", "-fno-math-errno", "-Wno-unreachable-code"]
SHARED = "vwlite._native.shared"  # Cython's code for memoryviews and functions, once for all kernels
TESTING = "vwlite._native.testing"  # for the tests of a source tree; no part of a wheel
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BuildExt(build_ext):
    """Translates the kernels to C and compiles them."""

    command_name = "build_ext"  # options are looked up by it, and by the name of the class without it

    def run(self):
        if not (self.inplace or self.editable_mode):
            self.extensions = [one for one in self.extensions if one.name != TESTING]
        translate(self.extensions)
        if not ANNOTATE:
            super().run()

    def build_extensions(self):
        self.stale = [one for one in self.extensions if self.is_stale(one)]
        self.compiled = 0
        super().build_extensions()

    def is_stale(self, ext):
        """As setuptools decides it."""
        return self.force or newer_group([*ext.sources, *ext.depends], self.get_ext_fullpath(ext.name), "newer")

    def build_extension(self, ext):
        super().build_extension(ext)
        if ext in self.stale:
            self.compiled += 1
            show_count("compiled", self.compiled, len(self.stale))


class Manual(install_data):
    """Puts man pages into the wheel, made from the declarations of the options."""

    def run(self):
        sys.path.insert(0, os.getcwd())
        from vwlite.cli.manual import release_date, write

        date = release_date(Path("CHANGELOG.md").read_text(encoding="utf-8"))
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


def declared():
    """The extensions, as yet without C code."""
    sources = sorted(Path("cython_ext").glob("*/*.pyx"))
    kernels = [extension(f"vwlite._native.{source.stem}", str(source)) for source in sources]
    return [extension(SHARED, "cython_ext/shared.c"), *kernels]


def translate(extensions):
    """Give the extensions their C code, in the order of its size: what takes the longest to compile comes first."""
    before = Path("setup.py").stat().st_mtime
    options = {
        "include_path": ["cython_ext"],
        "build_dir": BUILD,
        "annotate": ANNOTATE,
        "quiet": True,
        "cache": TRANSLATED,
        "force": DEBUG or ANNOTATE or any(path.stat().st_mtime < before for path in Path(BUILD).rglob("*.c")),
        "shared_utility_qualified_name": SHARED,
        "compiler_directives": {
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "initializedcheck": DEBUG,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    }
    # Collecting garbage takes half of the time. Without it all processes together take a gigabyte.
    with ProcessPoolExecutor(CORES, initializer=gc.disable) as pool:
        tasks = {pool.submit(cythonize, [plain(one)], **options): one for one in extensions}
        for done, task in enumerate(as_completed(tasks), 1):
            tasks[task].sources = task.result()[0].sources
            show_count("translated to C", done, len(tasks))
    for one in extensions:
        one.depends = ["setup.py", *headers(one.sources[0])]
    extensions.sort(key=lambda one: -Path(one.sources[0]).stat().st_size)


def plain(ext):
    """Without what only the compiler is asked for, so that all kinds of builds have the same C code."""
    return Extension(ext.name, ext.sources, include_dirs=ext.include_dirs)


def show_count(done_to_them, done, total):
    """On a terminal a line that counts; elsewhere a line for each quarter."""
    text = f"kernels {done_to_them}: {done} of {total}"
    if sys.stdout.isatty():
        print(f"\r{text}", end="\n" if done == total else "", flush=True)
    elif 4 * done // total > 4 * (done - 1) // total:
        print(text, flush=True)


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


ARGUMENTS = {
    "ext_modules": declared(),
    "cmdclass": {"build_ext": BuildExt, "install_data": Manual},
    "data_files": [("share/man/man1", [])],
    # Folders of build_ext's own: an editable install gives it temporary ones, and all is compiled once more.
    "options": {
        "build": {"build_base": BUILD, "build_lib": f"{BUILD}/lib", "parallel": CORES},
        "bdist_wheel": {"py_limited_api": "cp{}{}".format(*LEAST)} if LIMITED else {},
        "build_ext": {"build_temp": f"{BUILD}/objects", "build_lib": f"{BUILD}/lib"},
    },
}

if __name__ == "__main__":  # processes that translate import this file
    setup(**ARGUMENTS)
