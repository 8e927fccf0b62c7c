"""Models whose digests are right and whose headers are not."""

import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tool import TEXT

from vwlite.data.config import InputConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.storage import archive_writer
from vwlite.storage.model_file import MODEL
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.train import train


def forged(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A model of two classes after a change of what its header says of the learner."""
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder, "text"), Path(folder, "model")
        text.write_text(TEXT.replace("-1 |", "2 |"))
        config = PerClassConfig(oaa=2, indexing=1)
        train(RunConfig(InputConfig((str(text),)), learner=config, output=OutputConfig(str(model), quiet=True)))
        with zipfile.ZipFile(model) as file:
            contents = {name: file.read(name) for name in file.namelist()}
    header = json.loads(contents[archive_writer.HEADER])
    change(header["model"])
    contents[archive_writer.HEADER] = text = json.dumps(header).encode()
    members = [archive_writer.Member(name, len(data), zlib.crc32(data)) for name, data in contents.items()]
    frame = archive_writer.frame(members, archive_writer.comment(MODEL, text))
    return b"".join(record + data for (_, record), data in zip(frame, [*contents.values(), b""], strict=True))
