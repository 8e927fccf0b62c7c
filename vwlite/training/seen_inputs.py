"""Which inputs a model has learned before, after its ledger."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mmh3 import mmh3_x64_128

from vwlite.data.blocks import fingerprint, same_file
from vwlite.data.digests import HEAD, prefixes
from vwlite.storage.urls import is_url
from vwlite.training.ledger import Entry

SAMPLE, SAMPLES = 1 << 16, 16  # in ledgers of format 1


class Seen(NamedTuple):
    """What an input was learned as; ``grown``: there is more behind it now."""

    entry: Entry
    grown: bool = False
    sampled: bool = False  # only samples of it are known to be the same

    @property
    def whole(self) -> bool:
        return self.entry.get("whole", True) and not self.grown

    def told(self, path: str) -> str:
        entry = self.entry
        name = "" if path == entry["path"] else f" as {entry['path']}"
        lines = f" ({entry['lines']} lines)" if entry.get("lines") else ""
        if self.grown:
            return f"{path} has grown since it was learned{name}{lines}"
        part = "" if self.whole else ", in part"
        samples = ", as far as samples in the ledger of an older version tell" if self.sampled else ""
        return f"{path} was learned before{name}{part}{lines}{samples}"


def seen(known: Sequence[Entry], paths: Sequence[str]) -> dict[str, Seen]:
    """Those of ``paths`` that are known, whatever they are called and compressed with. Raises as reading them does."""
    found = {}
    for path, now in zip(paths, fingerprint(paths), strict=True) if known else ():
        if now and (one := unread(known, now) or read(known, path) or sampled(known, path, now["size"])):
            found[path] = one
    return found


def unread(known: Sequence[Entry], now: dict[str, Any]) -> Seen | None:
    """The entry of the very same file, unchanged since."""
    same = [entry for entry in known if entry.get("settled") and same_file(entry, now)]
    return Seen(max(same, key=lambda entry: entry.get("whole", True))) if same else None


def read(known: Sequence[Entry], path: str) -> Seen | None:
    """The entry of the same text or, if there is none, that of the longest beginning of it.

    Where the start is like none, no more is read.
    """
    left = [entry for entry in known if entry.get("text") and entry["text"]["size"]]
    longest, end = None, 0
    for size, digest in prefixes(path, {HEAD, *(entry["text"]["size"] for entry in left)}) if left else ():
        same = [entry for entry in left if entry["text"]["size"] == size and entry["text"]["digest"] == digest]
        longest, end = max(same, key=lambda entry: entry.get("whole", True), default=longest), size
        left = [entry for entry in left if entry["text"]["size"] > size]
        if size == HEAD:
            left = [entry for entry in left if entry["text"]["head"] == digest]
        if not left and (not longest or longest["text"]["size"] < size):
            break
    if longest is None or not longest.get("whole", True):
        return longest and Seen(longest)
    return Seen(longest, grown=longest["text"]["size"] < end)


def sampled(known: Sequence[Entry], path: str, size: int) -> Seen | None:
    """The entry of a ledger of format 1 whose samples are the same: those of up to 1 MiB are the whole file."""
    if is_url(path):
        return None
    left = {entry["digest"]: entry for entry in known if entry.get("size") == size and "digest" in entry}
    entry = left.get(samples_of(path, size)) if left else None
    return entry and Seen(entry, sampled=size > SAMPLE * SAMPLES)


def samples_of(path: str, size: int) -> str:
    digest, last = mmh3_x64_128(b"%d\n" % size), max(size - SAMPLE, 0)
    with open(path, "rb") as file:
        for sample in range(SAMPLES):
            file.seek(last * sample // (SAMPLES - 1))
            digest.update(file.read(SAMPLE))
    return digest.digest().hex()
