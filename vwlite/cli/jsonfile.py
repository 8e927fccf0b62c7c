"""``--json FILE``."""

import json
import sys
from typing import Any

from vwlite.atomic import atomic_output


def write_json(path: str, data: Any) -> None:
    """Write ``data`` to a file or, where ``path`` is ``-``, to standard output. Raises OutputError."""
    text = json.dumps(data, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with atomic_output(path, "w") as file:
        file.write(text)
