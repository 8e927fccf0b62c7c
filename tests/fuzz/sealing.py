"""Puts the checksums of damaged models and caches in order, so that a fuzzer gets past them."""

import json
import struct
import zlib

from vwlite.data.cache import END, ENTRY, MAGIC, TAIL
from vwlite.storage import archive_writer
from vwlite.storage.archive_writer import DELTA, HEADER, MODEL, FileFormat, Hasher


def sealed_model(data: bytes) -> bytes:
    """A model is fuzzed as ``size of header (4 bytes), header, data of the members one after the other``.

    Members get the data that their shapes ask for, while it lasts, and true digests; the frame is built anew.
    """
    size = int.from_bytes(data[:4], "little")
    text, rest = data[4 : 4 + size], data[4 + size :]
    try:
        header = json.loads(text)
        specs = header["arrays"]
        contents = []
        for item in specs:
            dtype = item["dtype"] if item["dtype"] in archive_writer.DTYPES else "|u1"
            spec = archive_writer.Spec(item["name"], dtype, tuple(item["shape"]))
            nbytes = min(spec.nbytes, len(rest))
            content, rest = spec.preamble + rest[:nbytes], rest[nbytes:]
            item["crc32"], item["digest"] = f"{zlib.crc32(content):08x}", Hasher(content).digest().hex()
            contents.append((f"{spec.name}.npy", content))
        text = json.dumps(header).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        contents = []
    return framed(text, contents, DELTA if b'"delta"' in text else MODEL)


def framed(text: bytes, contents: list[tuple[str, bytes]], format: FileFormat = MODEL) -> bytes:
    """The archive of a header and its members, right in all that surrounds them."""
    names, data = [HEADER, *(name for name, _ in contents)], [text, *(content for _, content in contents)]
    try:
        members = [archive_writer.Member(n, len(d), zlib.crc32(d)) for n, d in zip(names, data, strict=True)]
        frame = archive_writer.frame(members, archive_writer.comment(format, text))
    except (UnicodeError, struct.error):
        return text
    return b"".join(record + content for (_, record), content in zip(frame, [*data, b""], strict=True))


def unsealed_model(data: bytes) -> bytes:
    """The seed of ``sealed_model`` that gives the model ``data``."""
    _, size, start = archive_writer.first_member(data[:256])
    text = data[start : start + size]
    header = json.loads(text)
    specs = [archive_writer.Spec(**{**item, "shape": tuple(item["shape"])}) for item in header["arrays"]]
    frame = archive_writer.frame(archive_writer.members(text, specs), archive_writer.comment(MODEL, text))
    rest = b""
    for spec, (offset, record) in zip(specs, frame[1:-1], strict=True):
        begin = offset + len(record) + len(spec.preamble)
        rest += data[begin : begin + spec.nbytes]
    return len(text).to_bytes(4, "little") + text + rest


def sealed_cache(data: bytes) -> bytes:
    """A cache with the sums of its batches and of its list of batches as they should be."""
    if len(data) < len(MAGIC) + TAIL.size:
        return data
    offset = min(TAIL.unpack_from(data, len(data) - TAIL.size)[0], len(data) - TAIL.size)
    footer = data[offset : len(data) - TAIL.size]
    try:
        report = json.loads(footer)
        for entry in report["batches"]:
            batch = dict(zip(ENTRY, entry, strict=True))
            entry[-1] = zlib.crc32(data[batch["offset"] : min(batch["offset"] + batch["size"], offset)])
        footer = json.dumps(report).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        pass
    return MAGIC + data[len(MAGIC) : offset] + footer + TAIL.pack(offset, len(footer), zlib.crc32(footer), END)
