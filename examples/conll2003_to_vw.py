"""Words in their context as VW text: one namespace per kind of feature and place in a five-word window.

    python examples/conll2003_to_vw.py eng.train.gz >train.vw

Namespaces: w, t, p, s (word, character type, first and last characters) followed by the place, L2 L1 C R1 R2; wLC and
wCR are pairs of words. The label is the tag, in the IOB2 form.
"""

import gzip
import html
import io
import re
import sys
import tarfile
from collections.abc import Iterator

PLACES = {-2: "L2", -1: "L1", 0: "C", 1: "R1", 2: "R2"}
TOKEN = re.compile(r"[A-Za-z][A-Za-z'&.-]*[A-Za-z]\.?(?=\s)|[A-Za-z]+|\d[\d.,/-]*\d|\d|[^\sA-Za-z\d]")
STOP = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"])")


def sentences(path: str) -> Iterator[tuple[list[str], list[str]]]:
    """Words and IOB2 tags of a CoNLL-2003 file."""
    words: list[str] = []
    tags: list[str] = []
    with gzip.open(path, "rt", encoding="latin-1") as file:
        for line in [*file, ""]:
            fields = line.split()
            if fields and fields[0] != "-DOCSTART-":
                words.append(fields[0])
                tags.append(fields[-1])
            elif words:
                yield words, iob2(tags)
                words, tags = [], []


def iob2(tags: list[str]) -> list[str]:
    """Every entity begins with B-."""
    fixed, before = [], "O"
    for tag in tags:
        begins = tag.startswith("I-") and (before == "O" or before[2:] != tag[2:])
        fixed.append("B-" + tag[2:] if begins else tag)
        before = tag
    return fixed


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


def kind(word: str) -> str:
    """The word's character type: runs of upper, lower, digit and other characters."""
    shape = re.sub(r"[A-Z]", "A", re.sub(r"[a-z]", "a", re.sub(r"\d", "0", word)))
    return re.sub(r"(.)\1+", r"\1+", shape)


def safe(text: str) -> str:
    return text.replace(":", "%c").replace("|", "%b") or "%e"


def features(words: list[str], place: int) -> str:
    parts, near = [], {}
    for offset, name in PLACES.items():
        at = place + offset
        word = words[at] if 0 <= at < len(words) else "%none"
        near[offset] = safe(word)
        parts.append(f"|w{name} {safe(word)}")
        if word != "%none":
            parts.append(f"|t{name} {safe(kind(word))}")
            parts.append(f"|p{name} " + " ".join(safe(word[:n]) for n in (2, 3, 4) if n < len(word) + 1))
            parts.append(f"|s{name} " + " ".join(safe(word[-n:]) for n in (2, 3, 4) if n < len(word) + 1))
    parts += [f"|wLC {near[-1]}_{near[0]}", f"|wCR {near[0]}_{near[1]}"]
    return " ".join(part for part in parts if " " in part.strip())


def lines(words: list[str], tags: list[str] | None) -> list[str]:
    found = [features(words, place) for place in range(len(words))]
    return found if tags is None else [f"{tag} {text}" for tag, text in zip(tags, found, strict=True)]


def main() -> None:
    for words, tags in sentences(sys.argv[1]):
        print("\n".join(lines(words, tags)))


if __name__ == "__main__":
    main()
