"""Damaged, foreign, newer and lying files are refused in one sentence, with little memory."""

import gzip
import json
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from vwlite.errors import InputDamaged, InputMissing, ModelError
from vwlite.storage import archive_reader, archive_writer, model_file
from vwlite.storage.archive_writer import HEADER, Spec
from vwlite.storage.weight_table import Table


def refused(path, match: str = ".") -> None:
    for read in (model_file.load, lambda path: model_file.load(path, want=())):
        with pytest.raises(ModelError, match=match) as caught:
            read(path)
        message = str(caught.value)
        assert message.startswith(str(path)) and "\n" not in message and len(message) < 400
    assert caught.value.exit_code == 76


@pytest.fixture
def small(tmp_path) -> Path:
    table = Table(np.eye(6, 4, dtype=np.float32), ("w", "adaptive"))
    model_file.save(tmp_path / "m", {"learner": "gd"}, {"t": table, "a": np.arange(5, dtype=np.uint8)})
    return tmp_path / "m"


def forge(path, header, members: list[tuple[str, bytes]] = ()) -> Path:
    """A file whose frame, digest and checksums are in order, whatever ``header`` says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    data = [text, *(content for _, content in members)]
    names = [HEADER, *(name for name, _ in members)]
    frame = archive_writer.frame(
        [archive_writer.Member(n, len(d), zlib.crc32(d)) for n, d in zip(names, data, strict=True)],
        archive_writer.comment(model_file.MODEL, text),
    )
    pieces = [record + content for (_, record), content in zip(frame, [*data, b""], strict=True)]
    path.write_bytes(b"".join(pieces))
    return path


def honest(spec: Spec, data: bytes) -> tuple[dict, tuple[str, bytes]]:
    content = spec.preamble + data
    entry = {
        "name": spec.name,
        "dtype": spec.dtype,
        "shape": list(spec.shape),
        "crc32": f"{zlib.crc32(content):08x}",
        "digest": archive_writer.Hasher(content).digest().hex(),
    }
    return entry, (f"{spec.name}.npy", content)


def head(**changes) -> dict:
    own = {"kind": "vwlite-model", "format": 1, "writer": "0", "model": {}, "tables": {}}
    return own | {"arrays": []} | changes


def forge_table(path, slots: list[int], entry: dict, dtype: str = "<u4") -> Path:
    rows = np.array(slots, dtype)
    made = [
        honest(Spec("t.slots", dtype, rows.shape), rows.tobytes()),
        honest(Spec("t.w", "<f4", rows.shape), np.ones(len(slots), "<f4").tobytes()),
    ]
    return forge(path, head(arrays=[e for e, _ in made], tables={"t": entry}), [m for _, m in made])


def test_every_truncation_is_refused(small):
    for size in reversed(range(small.stat().st_size)):
        os.truncate(small, size)
        with pytest.raises(ModelError):
            model_file.load(small, want=())


def test_every_flipped_bit_is_refused(small):
    whole = small.read_bytes()
    with open(small, "r+b", buffering=0) as file:
        for place, byte in enumerate(whole):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), place)
                with pytest.raises(ModelError):
                    model_file.load(small, want=())
            os.pwrite(file.fileno(), bytes([byte]), place)
    assert model_file.load(small).header == {"learner": "gd"}


def test_a_damaged_header_is_not_believed(small, monkeypatch):
    whole = small.read_bytes()
    small.write_bytes(whole.replace(b'"format": 1', b'"format": 9'))
    refused(small, "is damaged")
    small.write_bytes(whole)
    monkeypatch.setattr(archive_reader, "HEADER_LIMIT", 200)
    refused(small, "the size of its header")


def test_bytes_before_between_and_after_are_refused(small):
    whole = small.read_bytes()
    for changed in (b"\0" + whole, whole + b"\0", whole + whole, whole[:500] + b"\0" + whole[500:]):
        small.write_bytes(changed)
        refused(small)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_same_content_zipped_by_others_is_refused(small, method):
    with zipfile.ZipFile(small) as file:
        content = {name: file.read(name) for name in file.namelist()}
        comment = file.comment
    with zipfile.ZipFile(small, "w", method) as file:
        for name, data in content.items():
            file.writestr(name, data)
        file.comment = comment
    refused(small, "zip archive of something else|is damaged")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"hello\n", "is not a vwlite model"),
        (bytes(5000), "is not a vwlite model"),
        (b"\x07\0\0\09.11.9\0\x01\0\0\0\0m\0", "is a Vowpal Wabbit model"),
        (b"\x06\0\0\08.9.0\0\x01\0\0\0\0m\0", "is a Vowpal Wabbit model"),
        (b"Version 9.11.9\nId \n", "is a Vowpal Wabbit model"),
        (gzip.compress(b"1 | a", mtime=0), "is compressed"),
    ],
)
def test_foreign_files_are_named(tmp_path, content, match):
    (tmp_path / "m").write_bytes(content)
    refused(tmp_path / "m", match)


def test_foreign_zips_are_named(tmp_path):
    np.savez(tmp_path / "m.npz", a=np.arange(3))
    refused(tmp_path / "m.npz", "zip archive of something else")
    with zipfile.ZipFile(tmp_path / "m.jar", "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    refused(tmp_path / "m.jar", "zip archive of something else")
    with zipfile.ZipFile(tmp_path / "none.zip", "w"):
        pass
    refused(tmp_path / "none.zip", "zip archive of something else")


def test_folders_pipes_and_missing_files_are_refused(tmp_path):
    refused(tmp_path, "is a directory")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a regular file")
    for path in (tmp_path / "none", tmp_path / "none" / "m"):
        with pytest.raises(InputMissing, match="none") as caught:
            model_file.load(path)
        assert caught.value.exit_code == 66


def test_a_disk_that_fails(small, monkeypatch):
    def fail(self, view, offset):
        raise InputDamaged("no")

    monkeypatch.setattr(model_file.Archive, "_fill", fail)
    with pytest.raises(InputDamaged):
        model_file.load(small)


def test_newer_formats_are_named(tmp_path):
    newer = head(format=2, writer="9.9\n", arrays={"all": "different"})
    refused(forge(tmp_path / "m", newer), r"newer vwlite \('9\.9\\n'\): upgrade")


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "vwlite-cache"},
        {"format": 0},
        {"format": True},
        {"format": "1"},
        {"format": None},
        {"model": []},
        {"model": None},
        {"tables": []},
        {"tables": {"../t": {}}},
        {"tables": {"t": {}}},
        {"tables": {"t": 5}},
        {"tables": {"t": {"slots": 4, "stride": 1, "columns": ["w"]}}},
        {"tables": {"t": {"slots": 4, "stride": 1, "columns": []}}},
        {"arrays": None},
        {"arrays": {"a": 1}},
        {"arrays": [{}]},
        {"arrays": ["a"]},
        {"arrays": [{"name": "a", "shape": [1]}]},
    ],
)
def test_headers_that_lie(tmp_path, changes):
    refused(forge(tmp_path / "m", head(**changes)), "is damaged")


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b"\xff", b"1" * 5000, b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b"\0" * 99],
)
def test_headers_that_are_no_header(tmp_path, text):
    refused(forge(tmp_path / "m", text), "is damaged")


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "|O"},
        {"dtype": ">f4"},
        {"dtype": "<f8"},
        {"dtype": ["<f4"]},
        {"dtype": "|V4"},
        {"shape": [5]},
        {"shape": [2, 3]},
        {"shape": [-4]},
        {"shape": [-2, -2]},
        {"shape": [4.0]},
        {"shape": [True, 4]},
        {"shape": ["4"]},
        {"shape": "4"},
        {"shape": 4},
        {"shape": [1 << 62]},
        {"shape": [10**400]},
        {"shape": [1 << 32, 1 << 32]},
        {"shape": [0, 10**30]},
        {"shape": [0, 900, 900, 900, 900, 900, 900, 900]},
        {"shape": [1] * 9 + [4]},
        {"name": "/a"},
        {"name": "../a"},
        {"name": "b"},
        {"name": ""},
        {"name": "a" * 101},
        {"name": "a.b"},
        {"name": 7},
        {"crc32": "0" * 8},
        {"crc32": "-0000001"},
        {"crc32": "f" * 80},
        {"digest": "0" * 32},
        {"digest": None},
        {"more": 1},
    ],
)
def test_members_that_lie(tmp_path, change):
    entry, member = honest(Spec("a", "<f4", (4,)), bytes(16))
    true = forge(tmp_path / "true", head(arrays=[entry]), [member])
    assert model_file.load(true).arrays["a"].shape == (4,)
    refused(forge(tmp_path / "m", head(arrays=[entry | change]), [member]), "is damaged")


def test_sizes_beyond_all_files(tmp_path):
    entry, _ = honest(Spec("a", "<f8", (4,)), bytes(32))
    many = [entry | {"name": f"a{n:05}", "shape": [1 << 48]} for n in range(10_000)]
    refused(forge(tmp_path / "m", head(arrays=many)), "the sizes of its arrays")


def test_npy_headers_that_lie(tmp_path):
    entry, (name, content) = honest(Spec("a", "<f4", (4,)), bytes(16))
    for old, new in [(b"<f4", b"<i4"), (b"(4,)", b"(2,)"), (b"False", b"True "), (b"<f4", b"|O4")]:
        lie = content.replace(old, new)
        digest = {"digest": archive_writer.Hasher(lie).digest().hex(), "crc32": f"{zlib.crc32(lie):08x}"}
        path = forge(tmp_path / "m", head(arrays=[entry | digest]), [(name, lie)])
        refused(path, "the start of a.npy")


def test_members_out_of_order(tmp_path):
    (a, a_npy), (b, b_npy) = (honest(Spec(name, "|u1", (1,)), b"1") for name in ("a", "b"))
    refused(forge(tmp_path / "m", head(arrays=[b, a]), [b_npy, a_npy]), "order")
    refused(forge(tmp_path / "m", head(arrays=[a, a]), [a_npy, a_npy]), "order")
    refused(forge(tmp_path / "m", head(arrays=[a]), [a_npy, a_npy]), "is damaged")
    refused(forge(tmp_path / "m", head(arrays=[a, b]), [a_npy]), "is damaged")


@pytest.mark.parametrize(
    ("slots", "change"),
    [
        ([1, 8], {}),
        ([2, 1], {}),
        ([1, 1], {}),
        ([1, 2], {"slots": 2}),
        ([1, 2], {"slots": 0}),
        ([1, 2], {"slots": -1}),
        ([1, 2], {"slots": 8.0}),
        ([1, 2], {"slots": (1 << 32) + 1}),
        ([1, 2], {"slots": 10**400}),
        ([1, 2], {"stride": 0}),
        ([1, 2], {"stride": True}),
        ([1, 2], {"stride": 1 << 31}),
        ([1, 2], {"columns": ["w", "w"]}),
        ([1, 2], {"columns": ["slots"]}),
        ([1, 2], {"columns": ["w", "slots"]}),
        ([1, 2], {"columns": ["x"]}),
        ([1, 2], {"columns": [1]}),
        ([1, 2], {"columns": None}),
    ],
)
def test_tables_that_lie(tmp_path, slots, change):
    entry = {"slots": 8, "stride": 2, "columns": ["w"]}
    true = model_file.load(forge_table(tmp_path / "true", [1, 2], entry)).arrays["t"]
    assert true.values[:, 0].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    path = forge_table(tmp_path / "m", slots, entry | change)
    with pytest.raises(ModelError, match="is damaged"):
        model_file.load(path)


def test_slots_of_another_type(tmp_path):
    entry = {"slots": 8, "stride": 1, "columns": ["w"]}
    refused(forge_table(tmp_path / "m", [1, 2], entry, "<i4"), "table t")


def test_a_table_beyond_the_address_space(tmp_path):
    entry = {"slots": 1 << 32, "stride": 1 << 28, "columns": ["w"]}
    with pytest.raises(ModelError, match="cannot be loaded here"):
        model_file.load(forge_table(tmp_path / "m", [1], entry))


CHILD = """
import sys
from vwlite.storage import model_file as model
from vwlite.errors import ModelError

def peak():  # MiB
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) >> 10

before = peak()
for path in sys.argv[1:]:
    for want in (None, ["t.w"]):
        try:
            model.load(path, want=want)
        except ModelError:
            pass
print(peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_bounded_by_the_file(tmp_path):
    entry, member = honest(Spec("a", "<f4", (4,)), bytes(16))
    files = [
        forge(tmp_path / f"lie{i}", head(arrays=[entry | {"shape": shape}]), [member])
        for i, shape in enumerate([[1 << 30], [1 << 40], [1 << 15, 1 << 15], [0, 1 << 62]])
    ]
    for bits in (22, 28, 32):  # true ones, but far larger than their files
        spread = list(range(0, 1 << bits, 1 << bits - 8))
        table = {"slots": 1 << bits, "stride": 4, "columns": ["w"]}
        files.append(forge_table(tmp_path / f"wide{bits}", spread, table))
    huge_header = bytearray(files[0].read_bytes())
    huge_header[45:61] = (1 << 30).to_bytes(8, "little") * 2
    (tmp_path / "header").write_bytes(huge_header)
    command = [sys.executable, "-c", CHILD, *map(str, files), str(tmp_path / "header")]
    grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(grown) < 100
