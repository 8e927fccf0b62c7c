"""Malformed lines are left out, counted and shown (outside of ``vwlite vw``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol

import numpy as np

from vwlite.data.batch import BLANK, SAVE, Batch
from vwlite.data.block_parser import Parsed, ParseIssue
from vwlite.data.config import BadLinesConfig
from vwlite.data.text_format import SENTENCES, Code, excerpt, hint_of
from vwlite.errors import DataError, escaped, first_words
from vwlite.options import DECIMAL
from vwlite.storage.atomic_file import atomic_output

MAX_SHOWN_LINES = 10  # malformed lines that are printed
MIN_LINES_FOR_RATIO = 1000  # read before the share of malformed lines is checked


class Labels(Protocol):
    """Checks a learner's labels: ``vwlite.learners.label_check.LabelCheck`` or one of ``class_labels``."""

    @property
    def hints(self) -> dict[int, str]:
        """Advice for labels that cannot be read, by the code of the issue."""

    def check(self, batch: Batch) -> np.ndarray: ...


DEFAULT = BadLinesConfig()


class BadLines:
    """Reports the first malformed lines, may write all of them to a file, and ends the run when there are too many.

    ``say`` prints a line to the user; None: nothing is printed, and the error that ends the run quotes the first
    malformed line. The largest share that ``config`` allows is checked from the thousandth line on and at the end;
    if it is strict, the first malformed line ends the run. With ``to_the_end`` too large a share only gives a warning,
    and the caller calls ``check_ratio`` when everything is written. ``labels`` None: labels are not checked. With
    ``advises`` the error of a run on names instead of numbers lists the options for them. ``watch`` is called with each
    part before it is examined. ``faults`` returns further faults of the rows of a batch. ``insist`` prints a message
    even if ``say`` is None: that a file ends within a line.
    """

    def __init__(
        self,
        labels: Labels | None,
        say: Callable[[str], None] | None,
        config: BadLinesConfig = DEFAULT,
        *,
        to_the_end: bool = False,
        advises: bool = False,
        class_weights: tuple[tuple[float, float], ...] = (),
        watch: Callable[[Parsed], None] | None = None,
        faults: Callable[[Batch], dict[int, str]] | None = None,
        insist: Callable[[str], None] | None = None,
    ) -> None:
        self.labels, self.class_weights, self.watch = labels, class_weights, watch
        self.unmet = [label for label, _ in class_weights]  # labels without any example so far
        self.quiet = say is None
        self.say: Callable[[str], None] = say or (lambda line: None)
        self.insist = self.say if insist is None else insist
        self.config, self.to_the_end = config, to_the_end
        self.advises, self.faults = advises, faults
        self.kept: BinaryIO | None = None
        self.begin()

    def begin(self) -> None:
        """Count from 0."""
        self.wrong: dict[int, str] = {}  # by row of the batch at work: what is wrong with it
        self.warned = False
        self.lines = self.bad = 0
        self.first = ""  # what is wrong with the first malformed line, and where
        self.names, self.forms = NamesAsLabels(), FormsOfLabels()

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """While the block runs, malformed lines are written to a file, which appears at its end. Raises OutputError."""
        if self.config.keep is None:
            yield
            return
        with atomic_output(self.config.keep) as self.kept:
            yield

    def examine(self, part: Parsed) -> Batch:
        """The part's batch, its labels checked. Raises DataError."""
        if self.watch:
            self.watch(part)
        for issue in part.issues:
            self.add(part, issue)
            self.watch_ratio(self.lines + issue.line + 1)
        self.lines += part.lines
        batch = part.batch
        batch.gaps = tuple(issue.row for issue in part.issues) if part.gaps is None else part.gaps
        batch.path, batch.first_line = part.block.path, part.first_line
        batch = self.relabel(batch)
        if wrong := self.wrong:
            self.leave_out(batch, wrong, "" if part.block.layout else ":1")
            batch.gaps = tuple(sorted((*batch.gaps, *wrong)))
        return batch

    def first_cached(self, batch: Batch) -> Batch:
        """Take labels as ``relabel``, of a batch from a cache in the first pass: lines whose labels are wrong are
        counted there.
        """
        batch = self.relabel(batch)
        for row, sentence in self.wrong.items():
            self.report(f"{batch.location(row)}: {sentence}", b"")
        return batch

    def relabel(self, batch: Batch) -> Batch:
        """The batch with its labels checked and weighted. A tag is never a command, as it is in vw.

        Rows whose labels are wrong, and other faulty ones, become blank and are in ``wrong``.
        """
        if batch.any_flags & SAVE:
            batch.flags = batch.flags & np.uint8(~SAVE & 0xFF)
        typed = batch.label
        if self.labels:
            batch.label = self.labels.check(batch)
        if self.class_weights:
            from vwlite.data.class_labels import ClassLabels  # imported only with --classweight

            labels = batch.label if isinstance(self.labels, ClassLabels) else typed
            self.unmet = [label for label in self.unmet if not (labels == np.float32(label)).any()]
            batch.weigh(self.class_weights, labels)
        self.wrong = dict(getattr(self.labels, "malformed", {}))
        if self.faults:
            self.wrong = {**self.faults(batch), **self.wrong}
        if self.wrong:
            rows = list(self.wrong)
            batch.flags, batch.label = np.array(batch.flags), np.array(batch.label)
            batch.flags[rows] |= BLANK
            batch.label[rows] = np.nan
        return batch

    def recall(self, lines: int, bad: int) -> None:
        """Count the malformed lines that were found when the cache was made. Raises DataError."""
        self.lines, self.bad = lines, bad
        if bad and self.config.strict:
            raise DataError(f"{bad} of {lines} lines were malformed when the cache was made (--strict); -k shows them")

    def add(self, part: Parsed, issue: ParseIssue) -> None:
        start, end = line_at(part, issue.at)
        line = bytes(part.block.data[start:end])
        column = issue.at - start
        if issue.code in (Code.BAD_LABEL_NUMBER, Code.BAD_LABEL_WORDS):
            table = part.block.layout is not None
            self.names.add(line, column, table)
            if not table:
                self.forms.add(line)
        location = f"{part.block.path}:{part.first_line + issue.line + 1}:{column + 1}"
        layout, hints = part.block.layout, self.labels.hints if self.labels else {}
        advice = layout.advice(issue.code, line, column) if layout else hint_of(issue.code, line)
        advice = advice or hints.get(issue.code, "")
        message = f"{location}: {SENTENCES[issue.code]}{advice}: {excerpt(line, column)}"
        cut = layout is not None and part.block.unended and end >= part.block.size - 1
        self.report(message + "; the file ends within this line: it may have been cut off" * cut, line, cut)

    def leave_out(self, batch: Batch, wrong: dict[int, str], column: str = "") -> None:
        """Rows whose labels were found wrong become blank ones, and their lines malformed ones. Raises DataError.

        ``column`` follows the line's number.
        """
        text = bytes(batch.text) if wrong else b""
        flags = np.array(batch.flags)
        for row, sentence in wrong.items():
            offset = int(batch.tag_start[row])
            line = text[text.rfind(b"\n", 0, offset) + 1 : text.find(b"\n", offset)]
            flags[row] |= BLANK
            self.report(f"{batch.location(row)}{column}: {sentence}: {excerpt(line, 0)}", line)
        batch.flags = flags
        if wrong:
            self.watch_ratio(self.lines)

    def report(self, message: str, line: bytes, insists: bool = False) -> None:
        """Count and report a malformed line. Raises DataError."""
        self.bad += 1
        self.first = self.first or message
        if self.kept:
            self.kept.write(line + b"\n")
        if self.config.strict:
            raise DataError(f"{message} (--strict)")
        if insists:
            self.insist(f"bad line {message}")
        elif self.bad <= MAX_SHOWN_LINES:
            self.say(f"bad line {message}")
        if self.bad == MAX_SHOWN_LINES:
            self.say("further bad lines are counted, not shown (--bad-lines FILE keeps them all)")

    def watch_ratio(self, lines: int) -> None:
        """Check the share of malformed lines after each of them. Raises DataError unless the run goes
        ``to_the_end``."""
        if lines < MIN_LINES_FOR_RATIO or self.warned:
            return
        if not self.to_the_end:
            self.check_ratio(lines)
        elif warning := self.warning(lines):
            self.say(f"{warning}; the run continues, and its exit status will be 65")
            self.warned = True

    def check_ratio(self, lines: int) -> None:
        """Raises DataError when too many of the lines so far are malformed."""
        if warning := self.warning(lines):
            first = f"; the first: {self.first}" if self.first and self.quiet else ""
            raise DataError(warning + first + (self.advice() if self.advises else self.unneeded()))

    def advice(self) -> str:
        """The options that learn labels such as most malformed lines have."""
        return self.forms.advice(self.bad) or self.names.advice(self.bad)

    def unneeded(self) -> str:
        """Advice on labels that do not matter, if most lines are malformed because these are not numbers."""
        if not (self.to_the_end and self.labels is None and self.bad and 2 * self.names.lines > self.bad):
            return ""
        return "; the model's labels are numbers, and these are not: leave them out, no label is needed here"

    def warning(self, lines: int) -> str:
        if self.bad <= self.config.max_ratio * lines:
            return ""
        return f"{self.bad} of {lines} lines are malformed, more than --max-bad-ratio {self.config.max_ratio:g} allows"

    def finish(self) -> None:
        """Raises DataError when too many lines were malformed, unless the run goes ``to_the_end``."""
        if not self.to_the_end:
            self.check_ratio(self.lines)
        if self.bad and not self.warning(self.lines):
            self.say(f"{self.bad} of {self.lines} lines were malformed and left out")
        if self.unmet:
            self.say(f"note: --classweight: no example has the label {', '.join(f'{label:g}' for label in self.unmet)}")


def reading_policy(
    config: BadLinesConfig = DEFAULT,
    message: Callable[[str], None] | None = None,
    labels: Labels | None = None,
    *,
    quiet: bool = False,
    learns: bool = False,
    **more: Any,
) -> BadLines:
    """The policy of what reads examples without a learner, whose labels need no check or one of their own.

    ``message`` prints, unless ``quiet``: then only what must be seen where the data are what the run ``learns``.
    ``more`` as ``BadLines`` has it. That of a learner's run is ``vwlite.training.assembly.malformed_line_policy``.
    """
    return BadLines(labels, None if quiet else message, config, insist=message if learns else None, **more)


def line_at(part: Parsed, position: int) -> tuple[int, int]:
    """The start and the end of the line with the byte ``position`` of a block."""
    data = part.block.data
    start = data.rfind(b"\n", 0, position) + 1
    end = data.find(b"\n", position, part.block.size)
    return start, end if end >= 0 else part.block.size


# Patterns of a word in text and of a cell in tables; compiled only when they are needed.
WORD, CELL = rb'"?([^\s|",]+)', rb'"?([^\t|",]+)'
NAME = f"(?!(?:{DECIMAL})$)[^:]+"  # neither a number nor a class with its cost
MAX_SHOWN = 10  # names in a message
MAX_NAMES = 1000  # that are remembered


SEVERAL = "several numbers"


class FormsOfLabels:
    """The labels of malformed lines of text that other learners take: costs, sets, numbers, decisions, groups of lines.

    The classes of ``highest`` are numbers; lines are counted by the form of their labels.
    """

    FORMS = (  # pattern of a word, what such labels are, the option that learns them: of single lines, of groups
        (rf"([0-9]+):(?:{DECIMAL}):(?:{DECIMAL})", "logged decisions", "--cb {}", "--cb_adf"),
        (rf"([0-9]+):(?:{DECIMAL})", "costs of classes", "--csoaa {}", "--csoaa_ldf mc"),
        (r"([0-9]+)(?:,[0-9]+)+", "sets of classes", "--multilabel_oaa {}", ""),
        (rf"(?:{DECIMAL})?(?:,(?:{DECIMAL})?)+", SEVERAL, "--outputs {}", ""),
    )

    def __init__(self) -> None:
        self.counts, self.highest = [0] * len(self.FORMS), [0] * len(self.FORMS)
        self.shared = 0

    def add(self, line: bytes) -> None:
        """Count the line by the words before its first bar."""
        words = line.partition(b"|")[0].decode("utf-8", "surrogateescape").split()
        self.shared += words[:1] == ["shared"]
        for number, (pattern, form, *_) in enumerate(self.FORMS):
            several = form == SEVERAL  # which their importance may follow
            if words and all(re.fullmatch(pattern, word) for word in (words[:1] if several else words)):
                self.counts[number] += 1
                classes = map(int, re.findall(r"(?:^|(?<=[ ,]))[0-9]+", " ".join(words)))
                classes = [words[0].count(",") + 1] if several else classes
                self.highest[number] = max(self.highest[number], *classes)
                return

    def advice(self, bad: int) -> str:
        """The end of a message about ``bad`` malformed lines; empty if most are malformed for another reason."""
        for count, highest, (_, form, single, of_groups) in zip(self.counts, self.highest, self.FORMS, strict=True):
            grouped = of_groups if self.shared else ""
            if count and 2 * (count + self.shared) > bad:
                classes = highest + (form == "sets of classes")  # numbered from 0
                option = grouped or single.format(classes)
                return f"; labels that are {form} need {option}: 'vwlite check' prints the options for all of the data"
        return ""


class NamesAsLabels:
    """The labels of lines that are malformed because their label is not a number."""

    def __init__(self) -> None:
        self.lines = 0
        self.names: dict[str, None] = {}

    def add(self, line: bytes, column: int, table: bool = False) -> None:
        """``column``, from 0: where the label begins, in a line of text or of a ``table``."""
        match = re.compile(CELL if table else WORD).match(line, column)
        name = match[1].decode("utf-8", "surrogateescape").strip() if match else ""
        if re.fullmatch(NAME, name):
            self.lines += 1
            if len(self.names) < MAX_NAMES:
                self.names.setdefault(name)

    def advice(self, bad: int) -> str:
        """The end of a message about ``bad`` malformed lines; empty if most are malformed for another reason."""
        if 2 * self.lines <= bad:
            return ""
        few = len(self.names) <= MAX_SHOWN
        shown = escaped(first_words(self.names, MAX_SHOWN))
        words = [re.sub(r"[ \t\r\n]", "_", name) for name in self.names]
        options = f"--oaa {len(words)} {named_labels(words)}" if few else "--oaa auto"
        return (
            f"; labels that are names ({shown}) need {options}, or vwlite l1: 'vwlite check' prints the options "
            "for all of the data"
        )


def named_labels(names: Iterable[str]) -> str:
    """The option --named_labels, quoted for a shell."""
    import shlex  # which few runs need

    return f"--named_labels {shlex.quote(escaped(','.join(names)))}"
