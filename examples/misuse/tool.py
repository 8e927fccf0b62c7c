"""A tool under misuse: its commands, and what became of one in a few words."""

import re
import shutil
import subprocess
from pathlib import Path

TEXT = "".join(f"{1 if n * n % 7 % 2 else -1} |user u{n % 50} |item i{n % 31} x{n % 3}:0.5\n" for n in range(1000))
SECONDS = 60  # a command may take
LONGEST = 130  # characters of what it said
LOUD = re.compile(r"bad line|malformed|warning|critical|error|cannot|never matched|learned before|no such", re.I)
NOISE = re.compile(r"^(Traceback|  |Exception ignored|\^)|only testing|best constant")


class Tool:
    """``name`` is vwlite or vw. Commands are shell text with {train}, {predict} (which needs no -i), {tool} in it.

    Each runs in a folder with good.vw, a model of it, ``model``, and ``files`` of the case.
    """

    def __init__(self, name: str, command: str, folder: Path) -> None:
        self.name, self.command, self.folder = name, command, folder / name
        self.base = folder / f"{name}-base"
        self.base.mkdir()
        (self.base / "good.vw").write_text(TEXT)
        self.run("{train} -d good.vw -f model", self.base)

    @property
    def words(self) -> dict[str, str]:
        if self.name == "vw":
            words = {"train": self.command, "predict": f"{self.command} -t -i model -p stdout --quiet"}
        else:
            words = {"train": f"{self.command} train", "predict": f"{self.command} predict -i model"}
        return {**words, "tool": self.command}

    def fresh(self) -> Path:
        """A new folder to run in."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.base, self.folder)
        return self.folder

    def run(self, command: str, folder: Path) -> subprocess.CompletedProcess:
        typed = command.format(**self.words)
        try:
            return subprocess.run(["sh", "-c", typed], cwd=folder, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(typed, -1, late.stdout or b"", b"it hangs")

    def outcome(self, case: dict) -> str:
        """Exit status, what was said, what became of ``out`` or, where there is none, of ``model``."""
        folder = self.fresh()
        for name, content in case.get("files", {}).items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        before = self.models(folder)
        done = self.run(case["run"], folder)
        said = self.said((done.stdout + b"\n" + done.stderr).decode(errors="replace"))
        text = f"**{done.returncode}** {self.left(before, folder)}" + (f": `{said}`" if said else "")
        self.run(case.get("afterwards", "true"), folder)
        return text

    def models(self, folder: Path) -> dict[str, bytes]:
        return {name: (folder / name).read_bytes() for name in ("model", "out") if (folder / name).is_file()}

    def left(self, before: dict[str, bytes], folder: Path) -> str:
        after = self.models(folder)
        if after == before:
            return "nothing changed"
        return "model changed" if after.keys() == before.keys() else "model written"

    def said(self, text: str) -> str:
        """The line that matters most, shortened."""
        lines = [line.strip() for line in text.splitlines() if line.strip() and not NOISE.search(line)]
        loud = [line for line in lines if LOUD.search(line)]
        own = [line for line in lines if line.startswith("vwlite: ")]
        learned = [line for line in lines if line.startswith("number of examples")]
        line = (loud or own or learned or [""])[0 if self.name == "vwlite" else -1]
        line = line.removeprefix("vwlite: ").removeprefix("RuntimeError: ").replace("`", "'")
        line = line.replace(f"{self.folder}/", "")
        line = "".join(c if c.isascii() and c.isprintable() else "?" for c in line)
        return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
