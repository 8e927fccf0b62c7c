"""Runs vwlite in forks of one process that has imported it: processes of their own, without what a start takes.

``commands`` starts the server and writes two programs: ``vwlite``, and a ``python`` that does the same with
``-m vwlite`` and is Python with anything else. They send their arguments, environment, folder and standard streams
over a socket, pass signals on, and end as the fork does. What depends on how a process starts (``PYTHON...`` variables,
which modules are imported, limits) needs ``sys.executable``.
"""

import contextlib
import gc
import importlib
import marshal
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

PROGRAM = """#!/bin/sh
''':'
exec "{python}" -IS "$0" "$@"
'''
import marshal, posix, sys, _signal, _socket

words = sys.argv[1:]
if sys.argv[0].endswith("python"):
    if words and words[0][0] != "-":  # a script, which calls itself what it is called here
        words = ["-c", "{script}", sys.argv[0], *words]
    words = words[words[:1] == ["-P"] :]
    if words[:2] != ["-m", "vwlite"]:
        posix.execv("{python}", ["{python}", *words])
    words = words[2:]
streams = [0, 1, 2, posix.open(".", posix.O_RDONLY)]
rights = b"".join(one.to_bytes(4, sys.byteorder) for one in streams)
posix.umask(umask := posix.umask(0))
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect("{socket}")
server.sendmsg([b"+"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
server.sendall(marshal.dumps((words, posix.environ, umask)))
server.shutdown(_socket.SHUT_WR)
child = int(server.recv(16))
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    if _signal.getsignal(number) != _signal.SIG_IGN:
        _signal.signal(number, lambda number, frame: posix.kill(child, number))
status = int(server.recv(16) or 99)
if status < 0:
    _signal.signal(-status, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
"""
SCRIPT = "import runpy, sys; _, sys.executable, *sys.argv = sys.argv; runpy.run_path(sys.argv[0], run_name='__main__')"


@contextlib.contextmanager
def commands(folder, environment):
    """Writes ``vwlite`` and ``python`` into a folder; they work while this is entered."""
    place = Path(folder, "server")
    names = {"python": sys.executable, "script": SCRIPT, "socket": place}
    for name in ("vwlite", "python"):
        program = Path(folder, name)
        program.write_text(PROGRAM.format(**names))
        program.chmod(0o755)
    words = [sys.executable, __file__, str(place)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout.readline() == b"ready\n"
        yield folder
        server.stdin.close()


def serve(place):
    """Until standard input ends."""
    root = Path(importlib.import_module("vwlite").__file__).parent.parent
    for path in sorted(root.glob("vwlite/**/*.py")):
        if path.parent.name != "sklearn" and path.stem != "__main__":
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        print("ready", flush=True)
        while 0 not in (ready := select.select([0, listener], [], [])[0]):
            if ready:
                connection, _ = listener.accept()
                if not os.fork():
                    listener.close()
                    attend(connection)
                connection.close()
                with contextlib.suppress(ChildProcessError):
                    while os.waitpid(-1, os.WNOHANG)[0]:
                        pass


def attend(connection):
    """In a process of its own: starts the command, and answers with its process number and its status."""
    _, streams, *_ = socket.recv_fds(connection, 1, 4)
    words, environment, umask = marshal.loads(connection.makefile("rb").read())
    child = os.fork()
    if not child:
        connection.close()
        os.umask(umask)
        os.fchdir(streams[3])
        become(words, environment, streams)
    for one in streams:
        os.close(one)
    with contextlib.suppress(OSError):
        connection.sendall(str(child).encode().ljust(16))
        connection.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
    os._exit(0)


def become(words, environment, streams):
    from vwlite.cli.program import program

    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.environ.clear()
    os.environb.update(environment)
    sys.argv = ["vwlite", *words]
    names = ("stdin", "r"), ("stdout", "w"), ("stderr", "w")
    for number, (name, mode) in enumerate(names):
        errors, buffering = ("backslashreplace", 1) if number == 2 else ("surrogateescape", -1)
        stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream), setattr(sys, f"__{name}__", stream)
    program()
    os._exit(99)


if __name__ == "__main__":
    serve(sys.argv[1])
