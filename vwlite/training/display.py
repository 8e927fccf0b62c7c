"""What a run shows of itself, for whoever runs it to override."""

from typing import NamedTuple, Protocol


class FileRead(NamedTuple):
    """Counts of an input that was read; None where they are not known. ``digest``: of the whole text, decompressed."""

    path: str
    lines: int | None = None
    bad: int | None = None
    digest: str | None = None


class Steps(Protocol):
    """Takes how many steps were made, of how many; None: unknown."""

    def __call__(self, done: int, total: int | None) -> None: ...


def no_steps(done: int, total: int | None) -> None:
    """Shows nothing of them."""


class Display:
    """Where the lines of a run go; this one shows nothing."""

    def line(self, text: str) -> None:
        """Print a line of the header, the progress table, the summary, or a note; may be several lines."""

    def message(self, text: str) -> None:
        """Something that the user should know, whatever is shown of the run."""

    def remark(self, text: str) -> None:
        """Print a message, unless only errors are to be shown."""

    def note(self, text: str) -> None:
        """Print a note beside the table; nothing if ``text`` is empty."""
        if text:
            self.line(f"note: {text}")

    def start(self, size: int | None) -> None:
        """``size``: the number of bytes to be read, None: not known."""

    def advance(self, size: int) -> None:
        """``size`` more bytes were read."""

    def advance_rows(self, number: int, rows: int, total: int | None) -> None:
        """Advance by ``rows`` rows of pass ``number`` that are not from text, of ``total``, if that is known."""

    def step(self, done: int, total: int | None, unit: str) -> None:
        """``done`` steps of a solver were made, of ``total``, if that is known; ``unit``: what a step is."""

    def files(self, read: list[FileRead]) -> None:
        """Report the inputs when all of each has been read."""

    def audit(self, data: bytes) -> None:
        """Lines of an audit."""

    def close(self) -> None:
        """The run has ended, whatever the reason."""
