import os
import resource
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.data.batch import BLANK, SAVE, TAGGED
from vwlite.errors import OutputError
from vwlite.training.prediction_writer import PredictionWriter, format_predictions


def batch(*tags):
    """A batch whose rows have these tags; None is a blank line, b"save..." a command."""
    words = [tag or b"" for tag in tags]
    ends = np.cumsum([len(word) for word in words], dtype=np.uint32)
    flags = [BLANK if tag is None else TAGGED * bool(tag) | SAVE * tag.startswith(b"save") for tag in tags]
    return SimpleNamespace(
        flags=np.array(flags, np.uint8),
        tag_start=ends - np.array([len(word) for word in words], np.uint32),
        tag_end=ends,
        text=b"".join(words),
    )


def formatted(values, rows=None, begin=0, end=None, whole=False):
    values = np.array(values, np.float32)
    rows = rows or batch(*[b""] * len(values))
    end = len(values) if end is None else end
    return format_predictions(values, rows.flags, rows.tag_start, rows.tag_end, rows.text or None, begin, end, whole)


def as_printf(value):
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    whole = np.isinf(value) or value == np.floor(value)
    return ("%.0f" if whole else "%.6f") % float(value)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 2**32 - 1), max_size=50))
def test_any_bit_pattern_prints_as_c_does(bits):
    values = np.array(bits, np.uint32).view(np.float32)
    assert formatted(values).decode().split() == [as_printf(value) for value in values]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 2**32 - 1), max_size=50))
def test_any_bit_pattern_is_read_back_where_all_digits_are_written(bits):
    values = np.array(bits, np.uint32).view(np.float32)
    read = np.array([float(word) for word in formatted(values, whole=True).split()], np.float32)
    np.testing.assert_array_equal(read, values)
    assert formatted([0.1, -0.25, 1e-30, 3, 1 / 3, np.nan], whole=True) == b"0.1\n-0.25\n1e-30\n3\n0.33333334\nnan\n"


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(-(2**24), 2**24, width=32), max_size=50))
def test_ordinary_values_print_as_c_does(values):
    values = np.array(values, np.float32)
    assert formatted(values).decode().split() == [as_printf(value) for value in values]


def test_ties_go_to_the_even_digit():
    # k / 128 has seven decimals, the last one a 5.
    values = (np.arange(-2000, 2000) / 128).astype(np.float32)
    assert formatted(values).decode().split() == [as_printf(value) for value in values]
    assert formatted([0.0078125, 0.0234375]) == b"0.007812\n0.023438\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, b"0"),
        (-0.0, b"-0"),
        (1.0, b"1"),
        (-10.0, b"-10"),
        (0.505942, b"0.505942"),
        (-1e-30, b"-0.000000"),
        (0.99999994, b"1.000000"),
        (8388607.5, b"8388607.500000"),
        (np.float32(2) ** 63, b"9223372036854775808"),
        (-2683281987279817677291388928.0, b"-2683281987279817677291388928"),
        (3.4028235e38, b"340282346638528859811704183484516925440"),
        (np.inf, b"inf"),
        (-np.inf, b"-inf"),
    ],
)
def test_values_are_printed_as_listed(value, text):
    assert formatted([value]) == text + b"\n"


def test_tags_blank_lines_and_commands():
    rows = batch(b"", b"first", None, b"save_here", b"t/2", b"")
    assert formatted([0, 0.5, 7, 7, 1, -2], rows) == b"0\n0.500000 first\n1 t/2\n-2\n"


tags = st.one_of(st.none(), st.just(b""), st.just(b"save"), st.binary(max_size=9))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(width=32), tags), max_size=20), st.integers(0, 20))
def test_any_split_gives_the_same_text(examples, cut):
    values = [value for value, _ in examples]
    rows = batch(*(tag for _, tag in examples))
    cut = min(cut, len(values))
    parts = formatted(values, rows, 0, cut) + formatted(values, rows, cut)
    assert parts == formatted(values, rows)


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="rows 0:3"):
        formatted([1, 2], batch(b"", b"", b""), 0, 3)
    with pytest.raises(ValueError, match="rows -1:1"):
        formatted([1, 2], None, -1, 1)


@pytest.mark.parametrize(("start", "end"), [(0, 4), (2, 1), (0, 2**32 - 1)])
def test_tag_outside_the_text_is_refused(start, end):
    rows = batch(b"abc")
    rows.tag_start[0], rows.tag_end[0] = start, end
    with pytest.raises(ValueError, match="tag"):
        formatted([1], rows)


ROWS = batch(b"", b"b", b"")
VALUES = np.array([0.25, 1, 2], np.float32)
TEXT = b"0.250000\n1 b\n2\n"


def test_file_appears_when_complete(tmp_path):
    path = tmp_path / "p.txt"
    with PredictionWriter(path) as writer:
        writer.write(ROWS, VALUES, 0, 2)
        assert not path.exists()
        writer.write(ROWS, VALUES, 2, 3)
    assert path.read_bytes() == TEXT
    writer.close()  # closing again does no harm
    with pytest.raises(ValueError, match="closed"):
        writer.write(ROWS, VALUES, 0, 1)


@pytest.mark.parametrize("stop", ["abort", "exception"])
def test_aborted_file_keeps_what_was_there(tmp_path, stop):
    path = tmp_path / "p.txt"
    path.write_bytes(b"earlier\n")
    writer = PredictionWriter(path)
    writer.write(ROWS, VALUES, 0, 3)
    if stop == "abort":
        writer.abort()
    else:
        with pytest.raises(KeyboardInterrupt), writer:
            raise KeyboardInterrupt
    assert path.read_bytes() == b"earlier\n"
    assert os.listdir(tmp_path) == ["p.txt"]


@pytest.mark.parametrize("name", ["-", "stdout", "/dev/stdout"])
def test_standard_output_is_written_at_once_and_stays_open(capfdbinary, name):
    with PredictionWriter(name) as writer:
        writer.write(ROWS, VALUES, 0, 3)
        assert capfdbinary.readouterr().out == TEXT  # at once, not when closed
    print("still open", flush=True)
    assert capfdbinary.readouterr().out == b"still open\n"


def test_missing_folder_is_an_output_error(tmp_path):
    with pytest.raises(OutputError):
        PredictionWriter(tmp_path / "missing" / "p.txt")


def test_folder_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match="cannot write predictions"):
        PredictionWriter(tmp_path)


def test_device_is_not_replaced():
    with PredictionWriter(os.devnull) as writer:
        writer.write(ROWS, VALUES, 0, 3)
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_device_is_an_output_error():
    with (
        pytest.raises(OutputError, match="/dev/full") as raised,
        PredictionWriter("/dev/full") as w,
    ):
        w.write(ROWS, VALUES, 0, 3)
    assert raised.value.exit_code == 73


def test_named_pipe_whose_reader_leaves(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with PredictionWriter(path) as writer:
        writer.write(ROWS, VALUES, 0, 3)
        assert os.read(reader, 100) == TEXT
        os.close(reader)
        assert not writer.broken
        writer.write(ROWS, VALUES, 0, 3)
        assert writer.broken
        writer.write(ROWS, VALUES, 0, 3)


SCRIPT = """
import sys
import numpy as np
from training.test_prediction_writer import ROWS, VALUES
from vwlite.training.prediction_writer import PredictionWriter

with PredictionWriter("-") as writer:
    for _ in range(3):
        writer.write(ROWS, VALUES, 0, 3)
sys.exit(141 if writer.broken else 1)
"""


def test_closed_standard_output_stays_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


class Sips:
    """A stream that takes a few bytes at a time, as a pipe without a buffer may."""

    def __init__(self):
        self.taken = b""

    def write(self, data):
        self.taken += bytes(data[:3])
        return min(len(data), 3)

    def flush(self):
        pass


def test_a_stream_may_take_a_part(monkeypatch):
    stream = Sips()
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=stream))
    PredictionWriter("-").write_bytes(b"0.5\n0.25\n")
    assert stream.taken == b"0.5\n0.25\n"


def test_a_disk_that_fills_at_the_end_leaves_nothing(tmp_path):
    """What is still in the buffer is written when the file is closed."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = PredictionWriter(tmp_path / "p")
    writer.write_bytes(b"0.5\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(OutputError, match="cannot write"):
            writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []
