"""Models whose digests are right and whose headers are not."""

import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tool import TEXT

from vwlite import archive, zipframe
from vwlite.config import OutputConfig, RunConfig
from vwlite.inputs import InputConfig
from vwlite.learners.many import ManyConfig
from vwlite.model import MODEL
from vwlite.training import train


def forged(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A model of two classes after a change of what its header says of the learner."""
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder, "text"), Path(folder, "model")
        text.write_text(TEXT.replace("-1 |", "2 |"))
        config = ManyConfig(oaa=2, indexing=1)
        train(RunConfig(InputConfig((str(text),)), learner=config, output=OutputConfig(str(model), quiet=True)))
        with zipfile.ZipFile(model) as file:
            contents = {name: file.read(name) for name in file.namelist()}
    header = json.loads(contents[archive.HEADER])
    change(header["model"])
    contents[archive.HEADER] = text = json.dumps(header).encode()
    members = [zipframe.Member(name, len(data), zlib.crc32(data)) for name, data in contents.items()]
    frame = zipframe.frame(members, archive.comment(MODEL, text))
    return b"".join(record + data for (_, record), data in zip(frame, [*contents.values(), b""], strict=True))
