"""What a run shows of itself, for whoever runs it to override."""

from typing import NamedTuple, Protocol


class FileRead(NamedTuple):
    """What was read of an input; None where it was not counted. ``digest``: of the whole text, decompressed."""

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
        """Of the header, the progress table, the summary, or a note; may be several."""

    def message(self, text: str) -> None:
        """Something that the user should know, whatever is shown of the run."""

    def remark(self, text: str) -> None:
        """The same, but for those who want to hear of errors only."""

    def note(self, text: str) -> None:
        """The same beside the table; nothing where ``text`` is empty."""
        if text:
            self.line(f"note: {text}")

    def start(self, size: int | None) -> None:
        """There are ``size`` bytes to be read, None: nobody knows."""

    def advance(self, size: int) -> None:
        """``size`` more bytes were read."""

    def advance_rows(self, number: int, rows: int, total: int | None) -> None:
        """So many more rows of pass ``number`` came from elsewhere than text, of ``total``, if that is known."""

    def step(self, done: int, total: int | None, unit: str) -> None:
        """``done`` steps of a solver were made, of ``total``, if that is known; ``unit``: what a step is."""

    def files(self, read: list[FileRead]) -> None:
        """What was read of each input, when the last of it was."""

    def audit(self, data: bytes) -> None:
        """Lines of an audit."""

    def close(self) -> None:
        """The run has ended, whatever the reason."""
