"""Turn two packages of the standard library into a learning problem: whose line of code is this?

    python stdlib_to_vw.py FOLDER [--packages POSITIVE NEGATIVE]

Writes FOLDER/train.vw and FOLDER/test.vw (one line of code in five), and FOLDER/test.txt with the
held-out lines as they stand in the source. Every distinct line with a word in it is one example,
tagged with the file and the line number it comes from:

    1 'asyncio/queues.py:84|words return self maxsize |shape indent:8 length:20 starts=return

The order is that of a hash of the text, so the same Python gives the same files every time.
"""

import argparse
import hashlib
import re
import sysconfig
from pathlib import Path

WORD = re.compile(r"[A-Za-z_]\w*")
TEST_SHARE = 5  # one in five lines is held out


def package_lines(package):
    """(text, tag) of every distinct line of ``package`` that holds a word."""
    folder = Path(sysconfig.get_path("stdlib")) / package
    seen = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder.parent).as_posix()
        source = path.read_text(encoding="utf-8", errors="replace")
        for number, text in enumerate(source.split("\n"), 1):
            if WORD.search(text):
                seen.setdefault(text.rstrip(), f"{name}:{number}")
    if not seen:
        raise SystemExit(f"stdlib_to_vw.py: no Python source in {folder}; name another package")
    return seen.items()


def to_vw(label, tag, text):
    """One example: the line's words, and what can be seen of it from afar."""
    words = WORD.findall(text)
    code = text.lstrip()
    shape = f"indent:{len(text) - len(code)} length:{len(code)} starts={words[0]}"
    return f"{label} '{tag}|words {' '.join(words)} |shape {shape}\n"


def shuffled(packages):
    """(hash, example, text) of all lines, in the order of their hashes."""
    rows = []
    for label, package in zip((1, -1), packages, strict=True):
        for text, tag in package_lines(package):
            key = hashlib.blake2b(f"{package}\n{text}".encode(), digest_size=8).digest()
            rows.append((key, to_vw(label, tag, text), text.strip()))
    return sorted(rows)


def main():
    parser = argparse.ArgumentParser(description="Lines of two standard packages as VW text.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--packages", nargs=2, default=["asyncio", "email"])
    options = parser.parse_args()
    rows = shuffled(options.packages)
    held_out = [row for row in rows if row[0][-1] % TEST_SHARE == 0]
    learned = [row for row in rows if row[0][-1] % TEST_SHARE]
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (
        ("train.vw", [example for _, example, _ in learned]),
        ("test.vw", [example for _, example, _ in held_out]),
        ("test.txt", [text + "\n" for _, _, text in held_out]),
    ):
        (options.folder / name).write_text("".join(lines), encoding="utf-8")
    print(f"{len(learned)} lines to learn from, {len(held_out)} held out;", end=" ")
    print("1 = {}, -1 = {}".format(*options.packages))


if __name__ == "__main__":
    main()
