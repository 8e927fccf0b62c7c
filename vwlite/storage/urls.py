"""Names of inputs that are URLs."""

import os
import re

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters or more, then RFC 3986


def is_url(path: str) -> bool:
    """Whether ``path`` begins with ``scheme://``."""
    return SCHEME.match(path) is not None


def local_path(path: str) -> str:
    """The path of a URL ``file://``; others, and paths, as they are."""
    if not path.startswith("file://"):
        return path
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(path).path)


class Url(os.PathLike[str]):
    """A URL among paths: ``pathlib.Path`` would take one of its slashes away."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __fspath__(self) -> str:
        return self.text
