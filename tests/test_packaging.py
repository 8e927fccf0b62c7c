"""What is built and shipped is complete, named once, and made from sources alone."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import vwlite
from vwlite.version import __version__

PROJECT = Path(__file__).resolve().parent.parent
KERNELS = sorted((PROJECT / "cython_ext").rglob("*.pyx"))
GENERATED = (".c", ".cpp", ".so", ".o", ".html", ".pyc", ".cache", ".whl")


def test_every_place_tells_the_same_version(run_cli):
    assert version("vwlite") == __version__
    assert run_cli("--version").stdout.split()[-1] == __version__


def test_every_public_name_can_be_imported():
    assert all(getattr(vwlite, name) is not None for name in vwlite.__all__)
    assert {*vwlite.ON_DEMAND, "__version__"} == {*vwlite.__all__}


def test_every_kernel_source_is_built():
    for source in KERNELS:
        module = importlib.import_module(f"vwlite._native.{source.stem}")
        assert module.__file__.endswith(".so"), source


def test_a_source_tree_without_kernels_says_what_to_do(tmp_path):
    shutil.copytree(PROJECT / "vwlite", tmp_path / "vwlite", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    command = [sys.executable, "-m", "vwlite", "train", "data.vw"]
    here = {**os.environ, "PYTHONSAFEPATH": ""}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=here)
    assert done.returncode == 69 and "Traceback" not in done.stderr
    assert f"run 'make' or 'pip install .' in {tmp_path};" in done.stderr


@pytest.mark.skipif(os.environ.get("VWLITE_DEBUG") == "1", reason="built to be debugged")
def test_kernels_carry_no_debug_data():
    built = sorted((PROJECT / "vwlite/_native").glob("*.so"))
    assert len(built) > len(KERNELS)
    assert [path.name for path in built if b".debug_info" in path.read_bytes()] == []


def test_kernels_share_cythons_memoryviews():
    """They are more than most kernels."""
    holders = [path for path in (PROJECT / "vwlite/_native").glob("*.so") if b"View.MemoryView" in path.read_bytes()]
    assert [path.name.split(".")[0] for path in holders] == ["shared"]


@pytest.fixture
def setup(monkeypatch):
    """The module ``setup.py``, in the project's folder."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    spec = importlib.util.spec_from_file_location("setup", PROJECT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(PROJECT)
    return module


def test_an_editable_install_finds_what_was_compiled(setup):
    """It sets the command up anew, with options that are found by the command's name."""
    from setuptools import Distribution

    options = {"build_ext": {"build_temp": "x"}}
    distribution = Distribution({"cmdclass": {"build_ext": setup.BuildExt}, "options": options})
    distribution.get_command_obj("build_ext").ensure_finalized()
    assert distribution.reinitialize_command("build_ext").build_temp == "x"


def test_a_kernel_is_made_again_for_the_headers_it_includes_and_no_others(setup):
    simd = [f"cython_ext/base/{name}.h" for name in ("byte_scan", "simd")]
    assert setup.headers("cython_ext/learners/adaptive_rates_simd.h") == simd
    classes = setup.headers("cython_ext/learners/class_blocks.h")
    assert {"cython_ext/base/simd.h", "cython_ext/learners/class_scan_simd.h"} < {*classes}
    assert "cython_ext/solvers/window_network.h" not in classes


@pytest.mark.parametrize("command", ["egg_info --egg-base", "dist_info --output-dir"])
def test_metadata_need_no_kernel(command, tmp_path):
    """pip asks for them before it builds a wheel, whose kernels are of another kind."""
    pytest.importorskip("setuptools")
    said = output(sys.executable, "setup.py", *command.split(), str(tmp_path))
    assert "translated" not in said and list(tmp_path.iterdir())


def test_kernels_have_names_of_their_own():
    stems = [source.stem for source in KERNELS]
    assert stems and len(stems) == len(set(stems))


def test_every_folder_of_modules_is_a_package():
    folders = {path.parent for path in (PROJECT / "vwlite").rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def output(*command):
    """What ``command`` prints when run in the project's folder."""
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout


def tracked_files():
    if not (PROJECT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    return output("git", "ls-files").splitlines()


def test_no_generated_file_is_tracked():
    assert [name for name in tracked_files() if name.endswith(GENERATED)] == []


def test_make_help_lists_every_target():
    if not shutil.which("make"):
        pytest.skip("no make here")
    makefile = (PROJECT / "Makefile").read_text()
    phony = next(line for line in makefile.splitlines() if line.startswith(".PHONY:"))
    printed = output("make", "--no-print-directory", "help")
    listed = [line.split()[0] for line in printed.splitlines()]
    assert listed == phony.split()[1:]


MACROS = re.compile(r"\bPy[A-Z]\w*_(?:AS|GET)_[A-Z]+\b")  # which look into objects, whose layout may change


def test_kernels_keep_to_the_stable_abi():
    assert {source.stem: found for source in KERNELS if (found := MACROS.findall(source.read_text()))} == {}
