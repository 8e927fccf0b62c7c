"""Runs vwlite in forks of one process, in each of which the system refuses something else.

    python tests/faults.py        everything, for every command: minutes

``call`` N: the Nth call that opens, renames, removes, locks, flushes or reads a file fails. ``size`` N: no file gets
longer than N bytes. ``memory`` N: there is room for N KiB more than there was.
"""

import argparse
import contextlib
import errno
import json
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

DATA = "".join(f"{1 if n % 3 else -1} 'tag{n} |a x{n % 7} y{n} |b z:{n % 5}\n" for n in range(60))
COMMANDS = {  # beside data there are d.cache, a model, m, and what it predicted, p
    "train": "train d -i m -f m -p p --json j --readable_model r --quiet",
    "passes": "train d -f m -c --passes 3 -p p --checkpoint-every 0s --block-size 1500 --save_per_pass --quiet",
    "names": "train d -f m -q ab --invert_hash r --bad-lines w -b 10 --quiet",
    "predict": "predict -i m d -p p --quiet",
    "l1": "l1 d -f m --passes 2 --json j --quiet",
    "crr": "crr d -f m --qid none --steps 50 --json j --quiet",
}
EVENTS = ("open", "os.rename", "os.remove", "os.truncate", "os.listdir", "fcntl.flock", "mmap.__new__")
TIMED = ("j", "d.cache", "m.ledger")  # say when they were made, of what file, or what stood there before
CALLS = ("fsync", "pread", "write", "fstat")
ENDS = {"call": {0, 2, 65, 66, 71, 73, 74, 76}, "size": {0, 73}, "memory": {0, 2, 66, 71, 73, 76}}  # exit statuses


class Faults:
    """Fails the Nth call of those that concern the folder at hand; counts them."""

    def __init__(self, number):
        self.number, self.count, self.last = number, 0, ""
        sys.addaudithook(self.hear)
        for name in CALLS:
            setattr(os, name, self.counted(name, getattr(os, name)))

    def hear(self, event, arguments):
        if event not in EVENTS:
            return
        path = arguments[0] if event in ("open", "os.rename", "os.remove", "os.listdir") else ""
        if isinstance(path, str) and not os.path.relpath(path or ".").startswith(".."):
            self.pass_by(event)

    def counted(self, name, function):
        def call(*arguments, **more):
            self.pass_by(name)
            return function(*arguments, **more)

        return call

    def pass_by(self, event):
        self.count += 1
        if self.count == self.number:
            self.last = event
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def prepare(folder):
    """The folder that every trial begins with."""
    (folder / "d").write_text(DATA)
    for command in ("train d -f m -p p -q ab --quiet", "train d -c --quiet"):
        run(folder, command, "call", 0)


def warm(folder, command):
    """Import what the command needs, so that the trials meet no failure of the interpreter's own."""
    from vwlite.cli.root import main

    os.chdir(folder)
    sys.argv = ["vwlite", *command.split()]
    with contextlib.suppress(SystemExit):
        main()
    os.chdir(folder.parent)


def run(folder, command, kind, number):
    """In a fork: exit status, what was said, the calls counted and the one that failed."""
    said, told = folder.parent / "said", folder.parent / "told"
    child = os.fork()
    if not child:
        status = 99
        try:
            os.chdir(folder)
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            status = begin(command, kind, number, told)
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"status": status, "said": said.read_text(), **json.loads(told.read_text() or "{}")}


def begin(command, kind, number, told):
    from vwlite.cli.root import main

    sys.argv = ["vwlite", *command.split()]
    out = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    write, faults = os.write, None
    if kind == "call":
        faults = Faults(number)
    elif kind == "size":
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))
    else:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 1024 * number, resource.RLIM_INFINITY))
    try:
        main()
    except SystemExit as end:
        if kind == "size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if faults:
            faults.number = 0
            write(out, json.dumps({"count": faults.count, "last": faults.last}).encode())
        return end.code
    return 98


def trials(command, kind, numbers):
    """What is wrong after each of the trials, and how many there were."""
    with tempfile.TemporaryDirectory() as room:
        start, whole = Path(room) / "start", Path(room) / "whole"
        start.mkdir()
        prepare(start)
        shutil.copytree(start, whole)
        warm(whole, COMMANDS[command])
        shutil.copytree(start, whole, dirs_exist_ok=True)
        total = run(whole, COMMANDS[command], "call", 0)
        assert total["status"] == 0, total
        numbers = numbers(total["count"])
        wrong = []
        for number in numbers:
            folder = Path(room) / "folder"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(start, folder)
            ended = run(folder, COMMANDS[command], kind, number)
            faults = warnings(kind, ended, folder, start, whole)
            if faults:
                wrong.append((command, kind, number, ended, faults))
        return wrong, len(numbers)


def warnings(kind, ended, folder, start, whole):
    status, said = ended["status"], ended["said"]
    result = [] if status in ENDS[kind] else [f"exit status {status}"]
    if "Traceback" in said or (status and "vwlite: " not in said and kind != "size"):  # to which what is said belongs
        result.append("no sentence")
    names = {path.name for path in (*folder.iterdir(), *whole.iterdir())}
    for name in sorted(names):
        now, old, new = (content(place / name) for place in (folder, start, whole))
        if name.startswith("m.ckpt") or name.endswith((".lock", ".vwlite", ".ckpt")):
            kept = name.startswith(("m.ckpt", "p.ckpt")) or (name == "m.lock" and status == 0)  # which counts no more
            if ended.get("last") != "os.remove" and now is not None and not (now and kept):
                result.append(f"{name} is left")
        elif name not in TIMED and (now not in (old, new) or (status == 0 and now != new)):
            result.append(f"{name} is broken")
    return result


def content(path):
    """A file's bytes, None where there is none."""
    return path.read_bytes() if path.is_file() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="*", default=[*COMMANDS])
    parser.add_argument("--few", type=int, help="so many trials of each kind, evenly spread")
    options = parser.parse_args()
    made = 0
    for name in options.commands:
        for kind, ends, step in (("call", None, 1), ("size", 6000, 97), ("memory", 40_000, 640)):

            def numbers(count, ends=ends, step=step):
                every = range(1, (ends or count) + 1, step)
                return every[:: max(len(every) // options.few, 1)] if options.few else every

            wrong, count = trials(name, kind, numbers)
            made += count
            for trial in wrong:
                print(*trial)
    print(made, "trials")


if __name__ == "__main__":
    main()
