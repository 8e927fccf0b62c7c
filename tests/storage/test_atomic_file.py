"""An output appears whole or not at all."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading

import pytest

from vwlite.errors import OutputError
from vwlite.interrupts import Interrupted
from vwlite.storage.atomic_file import PendingFile, atomic_output, check_writable

not_for_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture(params=["write", "check"])
def attempt(request):
    """Both ways to learn that a path cannot be written."""

    def write(path):
        with atomic_output(str(path)) as file:
            file.write(b"new")

    return write if request.param == "write" else lambda path: check_writable(str(path))


def test_the_name_appears_at_the_end(tmp_path):
    path = tmp_path / "m"
    with atomic_output(str(path)) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, BrokenPipeError])
def test_a_failure_leaves_the_old_file(tmp_path, failure):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    with pytest.raises(failure), atomic_output(str(path)) as file:
        file.write(b"new")
        raise failure
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_text_is_utf8_with_plain_newlines(tmp_path):
    with atomic_output(str(tmp_path / "t"), "w") as file:
        file.write("ä\n")
    assert (tmp_path / "t").read_bytes() == "ä\n".encode()


def test_the_writer_may_close_the_file_itself(tmp_path):
    with atomic_output(str(tmp_path / "m")) as file:
        file.write(b"new")
        file.close()
    assert (tmp_path / "m").read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o777])
def test_an_existing_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_output(str(path)) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_respects_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_output(str(tmp_path / "m")):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_a_symbolic_link_goes_on_pointing(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/m")
    for text in (b"first", b"second"):
        with atomic_output(str(tmp_path / "link")) as file:
            file.write(text)
        assert (tmp_path / "folder" / "m").read_bytes() == text
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "folder") == ["m"]


def test_a_pipe_is_written_directly(tmp_path):
    path = str(tmp_path / "fifo")
    os.mkfifo(path)
    actual = []

    def read():
        with open(path, "rb") as file:
            actual.append(file.read())

    reader = threading.Thread(target=read)
    reader.start()
    check_writable(str(tmp_path / "fifo"))
    with atomic_output(path) as file:
        file.write(b"new")
    reader.join()
    assert actual == [b"new"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_goes_on_where_it_stands(tmp_path, name):
    program = (
        "import sys; from vwlite.storage.atomic_file import *; check_writable(sys.argv[1])\n"
        "with atomic_output(sys.argv[1]) as file: file.write(b'new')"
    )
    path = tmp_path / "out"
    path.write_bytes(b"old ")
    with open(path, "ab") as out:
        subprocess.run([sys.executable, "-c", program, name], stdout=out, check=True)
    assert path.read_bytes() == b"old new"


def test_check_leaves_no_trace(tmp_path):
    check_writable(str(tmp_path / "m"))
    assert os.listdir(tmp_path) == []
    check_writable("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pending_file_goes_with_its_object(tmp_path):
    """A signal may come between the making of the file and what would remove it."""
    pending = PendingFile(str(tmp_path / "f"))
    child = os.fork()
    if not child:
        pending.__del__()
        os._exit(0)
    os.waitpid(child, 0)
    assert len(os.listdir(tmp_path)) == 1
    del pending
    assert os.listdir(tmp_path) == []


def test_leftovers_of_killed_writers_are_removed(tmp_path):
    program = (
        "import os, sys; from vwlite.storage.atomic_file import *\n"
        "with atomic_output(sys.argv[1]): os.kill(os.getpid(), 9)"
    )
    path = str(tmp_path / "m")
    killed = subprocess.run([sys.executable, "-c", program, path])
    assert killed.returncode == -signal.SIGKILL
    (leftover,) = os.listdir(tmp_path)
    (tmp_path / ".m.notes.vwlite").touch()
    with atomic_output(path) as other, atomic_output(path) as file:
        file.write(b"new")
        other.write(b"living writers' files stay")
        assert leftover not in os.listdir(tmp_path)
        assert len(os.listdir(tmp_path)) == 3
    assert sorted(os.listdir(tmp_path)) == [".m.notes.vwlite", "m"]


@pytest.mark.parametrize(
    "name, message",
    [
        ("gone/m", "cannot write .*: there is no folder .*gone; create it first"),
        ("file/m", "cannot write .*: .*file is not a folder"),
        (".", "cannot write .*: it is a directory"),
        ("x" * 300, "cannot write .*: File name too long"),
        ("loop", "cannot write .*: Too many levels"),
        ("a\0b", "cannot write .*null"),
    ],
)
def test_a_wrong_name_is_explained(tmp_path, attempt, name, message):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match=message):
        attempt(tmp_path / name)


def test_no_name_is_explained(attempt):
    with pytest.raises(OutputError, match="without a name"):
        check_writable("")


@not_for_root
def test_a_protected_file_or_folder_is_explained(tmp_path, attempt):
    (tmp_path / "m").touch(mode=0o444)
    with pytest.raises(OutputError, match="it is write-protected"):
        attempt(tmp_path / "m")
    tmp_path.chmod(0o555)
    with pytest.raises(OutputError, match="no permission to write there"):
        attempt(tmp_path / "new")
    tmp_path.chmod(0o755)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_a_full_disk_is_explained(size):
    with (
        pytest.raises(OutputError, match="cannot write /dev/full: the disk is full"),
        atomic_output("/dev/full") as file,
    ):
        file.write(bytes(size))


@pytest.mark.parametrize("size", [5000, 1 << 20])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, size):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with (
            pytest.raises(OutputError, match=r"cannot write .*: File too large"),
            atomic_output(str(path)) as file,
        ):
            file.write(bytes(size))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_errors_about_other_files_pass_through(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_output(str(tmp_path / "m")):
        os.stat(tmp_path / "gone")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_vanishes_is_explained(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with (
        pytest.raises(OutputError, match="there is no folder"),
        atomic_output(str(folder / "m")) as file,
    ):
        os.unlink(folder / os.listdir(folder)[0])
        folder.rmdir()
        file.write(b"new")


def test_a_sync_that_fails_is_an_error(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with (
        pytest.raises(OutputError, match="Input/output error"),
        atomic_output(str(tmp_path / "m")) as file,
    ):
        file.write(b"new")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("failure", "raised"), [(OSError(errno.EIO, "broken"), OutputError), (Interrupted(signal.SIGTERM), Interrupted)]
)
def test_a_file_that_cannot_be_locked_is_not_left(tmp_path, attempt, monkeypatch, failure, raised):
    def fail(descriptor, operation):
        raise failure

    monkeypatch.setattr("fcntl.flock", fail)
    with pytest.raises(raised, match=r"broken|terminated"):
        attempt(tmp_path / "m")
    assert os.listdir(tmp_path) == []
