"""Checks what an installed wheel put into site-packages, and what the sdist holds.

Usage, with the Python that vwlite is installed in: check_contents.py SOURCE_TREE SDIST
"""

import sys
import tarfile
from importlib.metadata import distribution
from pathlib import Path

GENERATED = {".c", ".so", ".html", ".pyc"}
SDIST_NEEDS = ["LICENSE", "Makefile", "setup.py", "vwlite/py.typed", "examples/demo.sh", "tests/conftest.py"]


def installed(source):
    """Complaints about the files of the installed distribution."""
    wheel = distribution("vwlite")
    files = [path for path in wheel.files if path.suffix != ".pyc"]
    outside = [path.name for path in files if path.parts[0] == ".." and path.suffix != ".1"]
    inside = {path.parts[0] for path in files if path.parts[0] != ".."}
    if inside != {"vwlite", f"vwlite-{wheel.version}.dist-info"} or outside != ["vwlite"]:
        yield f"site-packages got {sorted(inside)}, and beside it {outside}"
    modules = {path.as_posix() for path in files if path.suffix == ".py"}
    expected = {path.relative_to(source).as_posix() for path in source.glob("vwlite/**/*.py")}
    kernels = {path.name.split(".")[0] for path in files if path.suffix == ".so"}
    sources = {path.stem for path in source.glob("cython_ext/**/*.pyx")} - {"testing"} | {"shared"}
    manual = {path.name for path in files if path.suffix == ".1" and path.parts[-4:-1] == ("share", "man", "man1")}
    if not {"vwlite.1", "vwlite-train.1", "vwlite-aso-learn.1"} <= manual:
        yield f"the man pages are {sorted(manual)}"
    if "vwlite/py.typed" not in {path.as_posix() for path in files}:
        yield "the wheel lacks vwlite/py.typed"
    if modules != expected or kernels != sources:
        yield f"wheel and source tree differ: {sorted((modules ^ expected) | (kernels ^ sources))}"


def packed(source, sdist):
    """Complaints about the files of the sdist."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    copied = [*source.glob("cython_ext/**/*.*"), *source.glob("docs/*.md")]
    missing = sorted({*SDIST_NEEDS, *(str(path.relative_to(source)) for path in copied)} - names)
    if missing:
        yield f"the sdist lacks {missing}"
    generated = sorted(name for name in names if Path(name).suffix in GENERATED)
    if generated:
        yield f"the sdist holds generated files: {generated}"


if __name__ == "__main__":
    tree = Path(sys.argv[1])
    warnings = [*installed(tree), *packed(tree, sys.argv[2])]
    sys.exit("\n".join(warnings) or 0)
