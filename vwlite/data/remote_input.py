"""Inputs that are URLs, opened by fsspec (extra ``remote``), which knows object stores and web servers."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from vwlite.errors import ExtraMissing, InputDamaged, InputMissing

WEB = ("http", "https")
PREFIXES = tuple(f"{name}://" for name in WEB)
CONNECTING, SILENT = 30, 60  # seconds that a web server may take to accept a connection, and between two pieces of data
BLOCK = 1 << 23  # bytes asked for at once of an object store


class RemoteStatus(NamedTuple):
    """The status of a file on a server. ``etag`` changes with the content; None where nothing says so for sure."""

    size: int | None
    etag: str | None


class RemoteFile(io.RawIOBase):
    """An open file of fsspec; whatever fails there is reported in one sentence."""

    def __init__(self, raw: Any, url: str) -> None:
        self._raw, self._url = raw, url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._raw.seekable())

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Raises InputDamaged."""
        with self.explained():
            return int(self._raw.readinto(buffer))

    def seek(self, offset: int, whence: int = 0) -> int:
        """Raises InputDamaged."""
        with self.explained():
            return int(self._raw.seek(offset, whence))

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # of many types: each kind of server has its own
            raise InputDamaged(f"{self._url}: reading failed: {reason_of(error)}") from None

    def tell(self) -> int:
        return int(self._raw.tell())


def open_url(url: str, seekable: bool = False) -> RemoteFile:
    """The undecoded bytes of ``url``, in order unless ``seekable``.

    Raises InputMissing when it cannot be opened, ExtraMissing when fsspec or what it needs is not installed.
    """
    system, name = file_system(url)
    # In one answer, where no place is sought: a web server need not know ranges, nor the size, which is not asked for.
    streamed = {"block_size": 0, "size": 1} if url.startswith(PREFIXES) and not seekable else {"block_size": BLOCK}
    try:
        return RemoteFile(system.open(name, "rb", **streamed), url)
    except Exception as error:  # of many types, as above
        raise open_error(url, error) from None


def remote_status(url: str) -> RemoteStatus:
    """Raises as ``open_url``."""
    system, name = file_system(url)
    try:
        info = system.info(name)
    except Exception as error:  # of many types, as above
        raise open_error(url, error) from None
    if info["type"] == "directory":
        raise InputMissing(f"{url}: it is a directory; name the files in it")
    etag = info.get("ETag") or info.get("etag")
    # Web servers make theirs of a time in seconds; stores make them of the content, or of a number of versions.
    return RemoteStatus(info.get("size"), None if url.startswith(PREFIXES) or not etag else str(etag))


def file_system(url: str) -> tuple[Any, str]:
    """The file system that opens ``url``, and its name there."""
    try:
        from fsspec import url_to_fs

        options = web_options() if url.startswith(PREFIXES) else {}
    except ImportError:
        raise ExtraMissing(f"{url} is a URL; to read it: pip install 'vwlite[remote]'") from None
    try:
        return url_to_fs(url, **options)
    except Exception as error:  # of many types, as above
        raise open_error(url, error) from None


def web_options() -> Mapping[str, object]:
    """Proxies and passwords as other programs have them (HTTPS_PROXY, ~/.netrc), and no limit for a whole file.

    What fsspec's own configuration says is kept.
    """
    from aiohttp import ClientTimeout
    from fsspec.config import conf

    given = {key: value for name in WEB for key, value in conf.get(name, {}).get("client_kwargs", {}).items()}
    timeout = ClientTimeout(total=None, sock_connect=CONNECTING, sock_read=SILENT)
    return {"client_kwargs": {"timeout": timeout, "trust_env": True, **given}}


def open_error(url: str, error: Exception) -> ExtraMissing | InputMissing:
    if isinstance(error, ImportError):
        return ExtraMissing(f"{url}: {error}")  # which says what to install
    return InputMissing(f"{url}: {reason_of(error)}")


def reason_of(error: BaseException) -> str:
    """Why it failed, in the words of what failed first."""
    while error.__cause__ is not None:
        error = error.__cause__
    if (status := getattr(error, "status", None)) and (message := getattr(error, "message", "")):
        return f"{status} {message}"  # a web server's answer
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    said = getattr(error, "strerror", None) or getattr(error, "message", None) or str(error)
    return str(said).strip().partition("\n")[0] or type(error).__name__
