"""Labels that are names: every distinct one gets a number, in order of appearance.

Where a text format is ``of_words``, the text span of a row's tag in a batch begins with the label's name, if ``label``
is not NaN. The importance follows, if it was written, and then the tag, if the row is TAGGED.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vwlite.data.batch import TAGGED, Batch
from vwlite.numerals import is_count


class LabelVocabulary:
    """Names and their numbers: ``texts[number]``."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = list(texts)
        self.known = {text.encode("utf-8", "surrogateescape"): number for number, text in enumerate(self.texts)}

    def numbers(self, batch: Batch) -> np.ndarray:
        """int32[rows]: the labels' numbers, -1 without a label; new names get the next ones."""
        numbers = np.full(len(batch), -1, np.int32)
        known = self.known
        for row in np.flatnonzero(~np.isnan(batch.label)).tolist():
            name = batch.tag(row).partition(b" ")[0]
            number = known.get(name)
            if number is None:
                number = known[name] = len(known)
                self.texts.append(name.decode("utf-8", "surrogateescape"))
            numbers[row] = number
        return numbers


def tag_of(batch: Batch, row: int) -> bytes:
    """The tag of a row whose label is a name, empty when it has none."""
    return batch.tag(row).rpartition(b" ")[2].removeprefix(b"'") if batch.flags[row] & TAGGED else b""


class Classes:
    """Names of classes, sorted; with ``several`` a label lists any number of them, separated by commas."""

    def __init__(self, names: list[str], several: bool = False) -> None:
        self.names, self.several = names, several
        self.index = {name: index for index, name in enumerate(names)}

    @classmethod
    def of(cls, texts: list[str], several: bool = False) -> Classes:
        """The classes that these labels name, in numeric order if all names are numbers."""
        names = {name for text in texts for name in split(text, several)}
        numeric = all(is_count(name) and len(name) < 16 for name in names)
        return cls(sorted(names, key=(lambda name: (int(name), name)) if numeric else None), several)

    def members(self, texts: list[str]) -> list[np.ndarray]:
        """Per label text its classes, int32 ascending; names that are no class are left out."""
        known = ([self.index[name] for name in split(text, self.several) if name in self.index] for text in texts)
        return [np.array(sorted(set(indices)), np.int32) for indices in known]


def split(text: str, several: bool) -> list[str]:
    return [name for name in text.split(",") if name] if several else [text]
