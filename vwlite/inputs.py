"""Where the batches of each pass come from: the text, a cache of it, or both at once."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

from vwlite.batch import Batch
from vwlite.cache import Cache, CacheWriter, description
from vwlite.errors import InputMissing
from vwlite.parsing import TextFormat
from vwlite.reading import Parsed, read
from vwlite.shuffling import Rows
from vwlite.source import check_inputs


@dataclass(frozen=True, slots=True)
class InputConfig:
    """What is read, and how. ``cache`` is the cache file, None for none."""

    paths: tuple[str, ...] = ("-",)
    kind: str = "vw"  # or "svmlight"
    threads: int = 1
    block_size: int = 1 << 20
    cache: str | None = None
    kill_cache: bool = False
    examples: int = 0  # lines read at most, 0 for all
    shuffle: bool = False  # every pass but a model's first goes in an order of its own
    seed: int = 0  # of these orders


class Inputs:
    """Batches for any number of passes. A usable cache is read instead of the text; a stale one is made again.

    ``state`` is ``"none"``, ``"creating"`` or ``"using"``: what becomes of the cache. For ``several_passes``
    and no cache named, a temporary one is made.
    """

    def __init__(self, config: InputConfig, format: TextFormat, several_passes: bool = False) -> None:
        self.config, self.format = config, format
        self.temporary: str | None = None
        check_inputs(config.paths)
        path = config.cache
        if path is None and several_passes:
            descriptor, path = tempfile.mkstemp(suffix=".cache", prefix="vwlite-")
            os.close(descriptor)
            self.temporary = path
        self.path = path
        self.cache: Cache | None = None
        self.rows: Rows | None = None
        self.remade = ""  # why an existing cache was not used
        self.made_from = description(list(config.paths), format, config.kind) if path else {}
        if config.cache and not config.kill_cache and os.path.exists(config.cache):
            self.open_cache(config.cache)
        self.state = "using" if self.cache else "creating" if path else "none"

    def open_cache(self, path: str) -> None:
        cache = Cache(path)
        if self.config.paths == ("-",) or cache.serves(self.made_from, self.config.examples):
            self.cache = cache
        else:
            self.remade = f"{path} was made from other data or options and is made again"

    def texts(self) -> Iterator[Parsed]:
        """The text's batches, while they are also written to the cache."""
        config = self.config
        writer = CacheWriter(self.path, self.made_from, config.examples) if self.path else None
        left = config.examples
        parts = read(
            config.paths, self.format, config.kind, threads=config.threads, block_size=config.block_size
        )
        try:
            for part in parts:
                rows = len(part.batch)
                if config.examples:
                    rows = min(rows, left)
                    left -= rows
                    part.batch = part.batch.head(rows)
                if writer:
                    writer.add(part.batch, rows)
                yield part
                if config.examples and not left:
                    break
        except BaseException as error:
            if writer:
                writer.abort(error)
            raise
        finally:
            parts.close()
        if writer:
            writer.close()
            self.cache = Cache(self.path)
            self.cache.trust()

    def cached(self) -> Iterator[Batch]:
        """The cache's batches. Raises ModelError when it is damaged."""
        if self.cache is None:
            raise InputMissing("there is no cache to read again")
        return iter(self.cache)

    def shuffled(self, number: int) -> Iterator[Batch]:
        """The cache's rows in the order of pass ``number``. Raises ModelError when it is damaged."""
        if self.rows is None:
            self.rows = Rows(list(self.cached()))
        return self.rows.shuffled(self.config.seed, number)

    def close(self) -> None:
        """Remove a temporary cache."""
        self.cache = self.rows = None
        if self.temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.temporary)
            self.temporary = None

