"""Every error a user can meet, with its exit code (after sysexits.h).

Library code raises these; the command line prints ``vwlite: <message>`` and exits with ``exit_code``. A traceback is
always a bug.
"""


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
