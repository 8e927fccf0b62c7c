"""Files of CoNLL columns, or of plain sentences, as lists of tokens."""

from collections.abc import Iterable, Iterator

from vwlite.data.plain_text import decoded, words_of
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.phrases import OUTSIDE, goes_on, tag_of
from vwlite.options import Config, config, option

Sentence = list[list[str]]  # the columns of every token, the label last
DOCUMENT = "-DOCSTART-"  # the only token between two documents


@config
class ColumnsConfig(Config):
    """How files are read. ``labels``: is the last column the label?"""

    no_labels: bool = option(
        False, "The last column is no label but one more to make features of.", spelled=("--no-labels",)
    )
    lines: bool = option(False, "Files are plain text: a sentence a line, blanks between tokens, no labels.")
    iob2: bool = option(False, "Labels of phrases begin with B-, also those that begin with I- in the file.")
    keep_docstart: bool = option(
        False, "Lines -DOCSTART- are tokens, not marks between documents to leave out.", spelled=("--keep-docstart",)
    )

    def __post_init__(self) -> None:
        if self.lines and (self.no_labels or self.keep_docstart):
            other = "--no-labels" if self.no_labels else "--keep-docstart"
            raise UsageError(f"{other} does nothing with --lines, which has neither columns nor labels")
        if self.iob2 and not self.labels:
            raise UsageError(f"--iob2 does nothing with {'--lines' if self.lines else '--no-labels'}")

    @property
    def labels(self) -> bool:
        return not (self.no_labels or self.lines)


def sentences(lines: Iterable[bytes], path: str, how: ColumnsConfig) -> Iterator[tuple[int, Sentence]]:
    """Sentences and the numbers of their first lines. Blanks or tabs separate columns.

    Raises DataError where a line has not as many columns as the first.
    """
    if how.lines:
        for number, line in enumerate(lines, 1):
            if tokens := words_of(decoded(line)):
                yield number, [[token] for token in tokens]
        return
    for number, sentence in separated(lines, path, how.keep_docstart):
        if how.iob2:
            for token, label in zip(sentence, begun([token[-1] for token in sentence]), strict=True):
                token[-1] = label
        yield number, sentence


def separated(lines: Iterable[bytes], path: str, keep_docstart: bool) -> Iterator[tuple[int, Sentence]]:
    """Of columns. Empty lines are between sentences. Raises DataError."""
    sentence: Sentence = []
    width = first = 0
    for number, line in enumerate(lines, 1):
        columns = words_of(decoded(line))
        if not columns:
            if sentence:
                yield first, sentence
            sentence = []
            continue
        if columns[0] == DOCUMENT and not keep_docstart:
            continue
        width = width or len(columns)
        if len(columns) != width:
            raise DataError(f"{path}:{number}: {len(columns)} columns where lines before have {width}")
        first = first if sentence else number
        sentence.append(columns)
    if sentence:
        yield first, sentence


def begun(labels: list[str]) -> list[str]:
    """IOB2 of IOB1: an I- that does not go on with the phrase of its type becomes B-."""
    fixed, before = [], OUTSIDE
    for label in labels:
        tag = tag_of(label)
        first = tag.mark == "I" and not goes_on(before, tag)
        fixed.append(("B" if label[0] == "I" else "b") + label[1:] if first else label)
        before = tag
    return fixed
