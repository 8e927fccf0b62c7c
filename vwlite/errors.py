"""Every error a user can meet, with its exit code (after sysexits.h).

Library code raises these; the command line prints ``vwlite: <message>`` and exits with ``exit_code``. A traceback is
always a bug. What a message quotes from data is escaped: characters that control a terminal or hide other characters.
"""

import re
from collections.abc import Collection


class VwliteError(Exception):
    """Base of all errors; ``exit_code`` is what the process returns.

    Several are errors of Python's own, too: code that waits for a ValueError need not know of vwlite.
    """

    exit_code = 1


class UsageError(VwliteError, ValueError):
    """An option is unknown, out of range, or contradicts another one or the model."""

    exit_code = 2


class DataError(VwliteError, ValueError):
    """The input holds lines or labels that must not be learned from."""

    exit_code = 65


class InputMissing(VwliteError, FileNotFoundError):
    """An input file does not exist or may not be read."""

    exit_code = 66


class ExtraMissing(VwliteError, ImportError):
    """An optional dependency is not installed; the message names the extra."""

    exit_code = 69


class NotBuilt(VwliteError):
    """The package is a source tree without compiled kernels."""

    exit_code = 69


class Diverged(VwliteError):
    """Weights or predictions stopped being finite numbers."""

    exit_code = 70


class WorkerLost(VwliteError):
    """Processes or machines that learn parts of the data died again and again."""

    exit_code = 70


class OutOfMemory(VwliteError):
    """The run needs more memory than there is."""

    exit_code = 71


class OutputError(VwliteError):
    """An output file cannot be created or written."""

    exit_code = 73


class InputDamaged(VwliteError):
    """Reading failed half way: an I/O error or truncated compressed input."""

    exit_code = 74


class Locked(VwliteError, TimeoutError):
    """Another process is writing the same model."""

    exit_code = 75


class ModelError(VwliteError, ValueError):
    """A model or cache file is damaged, foreign, or does not fit the request."""

    exit_code = 76


# Control characters (C0, DEL, C1), bytes that are not UTF-8, Unicode line separators, and changes of text direction.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LAYOUT = "\n\t"


def escaped(text: str, kept: str = "") -> str:
    """``text`` with Python's escapes for such characters, except those in ``kept``."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in kept else escape(found[0]), text)


def laid_out(text: str) -> str:
    """As ``escaped``, for text of several lines: newlines and tabs stay."""
    return escaped(text, LAYOUT)


def first_words(words: Collection[str], count: int) -> str:
    """The first ``count`` words with commas between, and ``...`` behind them where there are more."""
    return ", ".join(list(words)[:count]) + ", ..." * (len(words) > count)


def escape(character: str) -> str:
    """The escape of a character; a surrogate, which stands for a byte that is not UTF-8, becomes that byte's."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
