"""Sentences of Reuters-21578 as words: text without labels.

    python examples/reuters_sentences.py reuters21578.tar.gz | vwlite convert conll --lines > unlabeled.vw
"""

import html
import io
import re
import sys
import tarfile
from collections.abc import Iterator

TOKEN = re.compile(r"[A-Za-z][A-Za-z'&.-]*[A-Za-z]\.?(?=\s)|[A-Za-z]+|\d[\d.,/-]*\d|\d|[^\sA-Za-z\d]")
STOP = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"])")


def reuters(path: str) -> Iterator[list[str]]:
    """Sentences of Reuters-21578's bodies."""
    with tarfile.open(path) as tar:
        for member in tar:
            if member.name.endswith(".sgm"):
                text = io.TextIOWrapper(tar.extractfile(member), encoding="latin-1").read()
                for body in re.findall(r"<BODY>(.*?)</BODY>", text, re.S):
                    for sentence in STOP.split(html.unescape(body).replace("\x03", " ")):
                        words = TOKEN.findall(sentence + " ")
                        if len(words) > 3:
                            yield words


if __name__ == "__main__":
    for words in reuters(sys.argv[1]):
        print(" ".join(words))
