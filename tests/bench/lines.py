"""Lines over TCP: many clients, a server that is killed, and cannot write files; latency, also of vw's daemon.

Usage: lines.py [--lines 100000] [--clients 200] [--kills 3] [--vw "python -m vowpalwabbit --passes 1"]

Without --passes 1 this daemon does not answer.
"""

import argparse
import os
import resource
import selectors
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import vwlite

PORT = 26999


def connect(deadline):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", PORT), 10)
        except OSError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.05)


def client(number, count, answers, times, errors):
    """Send one line after the other; one that was not answered is sent anew over another connection."""
    deadline, done, connection, file = time.perf_counter() + 300, 0, None, None
    while done < count:
        try:
            if not connection:
                connection = connect(deadline)
                file = connection.makefile("rwb")
            began = time.perf_counter()
            file.write(line(number, done))
            file.flush()
            answer = file.readline()
            if not answer.endswith(b"\n"):
                raise ConnectionError("no answer")
            times.append(time.perf_counter() - began)
            answers.append(answer.split()[1])
            done += 1
        except OSError:
            errors.append(number)
            connection = file = None
            if time.perf_counter() > deadline:
                return


def line(number, done):
    return b"%d 1 %d_%d|w x%d y%d z\n" % (done % 2, number, done, number, done % 7)


def all_clients(clients, count, answers, times, errors):
    """What ``client`` does for each, in one thread, whose turns take no time from the answers; nothing is sent anew."""
    select, began, done, parts = selectors.DefaultSelector(), [0.0] * clients, [0] * clients, [b""] * clients
    for number in range(clients):
        select.register(connect(time.perf_counter() + 20), selectors.EVENT_READ, number)

    def send(key):
        began[key.data] = time.perf_counter()
        key.fileobj.sendall(line(key.data, done[key.data]))

    for key in list(select.get_map().values()):
        send(key)
    while select.get_map() and (ready := select.select(20)):
        for key, _ in ready:
            number = key.data
            try:
                got = key.fileobj.recv(1 << 12)
                parts[number] += got
                if parts[number].endswith(b"\n"):
                    times.append(time.perf_counter() - began[number])
                    answers.append(parts[number].split()[1])
                    parts[number], done[number] = b"", done[number] + 1
                    if done[number] < count:
                        send(key)
            except OSError:
                got = b""
            if not got or done[number] == count:
                errors.extend([number] * (done[number] < count))
                select.unregister(key.fileobj)
                key.fileobj.close()


def begin(command, folder, wait=True):
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    connect(time.perf_counter() + 20).close()
    return server


def run(command, folder, options, kills, watch=lambda: None):
    server = begin(command, folder)
    answers, times, errors = [], [], []
    share = options.lines // options.clients
    results = (answers, times, errors)
    threads = [threading.Thread(target=client, args=(one, share, *results)) for one in range(options.clients)]
    if not kills:
        threads = [threading.Thread(target=all_clients, args=(options.clients, share, *results))]
    began = time.perf_counter()
    for one in threads:
        one.start()
    for kill in range(kills):
        while len(answers) < options.lines * (kill + 0.5) // (kills + 1):
            time.sleep(0.01)
            watch()
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))  # as a disk that is full
        while len(answers) < options.lines * (kill + 1) // (kills + 1):
            time.sleep(0.01)
            watch()
        server.kill()
        server.wait()
        watch()
        server = begin(command, folder)
    while any(one.is_alive() for one in threads):
        time.sleep(0.05)
        watch()
    seconds = time.perf_counter() - began
    server.terminate()
    status = server.wait()
    times.sort()
    p50, p99 = (1000 * times[int(len(times) * part)] if times else float("nan") for part in (0.5, 0.99))
    print(
        f"{len(answers)} answers, {len(set(answers))} different, of {share * options.clients} lines in "
        f"{seconds:.1f} s; {len(errors)} connections broke, {kills} kills; "
        f"p50 {p50:.2f} ms, p99 {p99:.2f} ms; status {status}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("lines", 100_000), ("clients", 200), ("kills", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--vw", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model = vwlite.Model()
        model.learn("1 |w z\n")
        model.save(path)
        loads = []

        def watch():
            loads.append(vwlite.Model.load(path).counters["example_number"])

        serve = [sys.executable, "-m", "vwlite", "serve", "-i", "model", "--lines", str(PORT), "--learn", "--quiet"]
        print("vwlite, nothing killed:", end=" ")
        run(serve, folder, options, 0)
        print("vwlite, killed:", end=" ")
        run([*serve, "--save-every", "0.2s"], folder, options, options.kills, watch)
        print(f"the model was opened {len(loads)} times meanwhile, whole each time; it has {loads[-1]} examples")
        if options.vw:
            print("vw:", end=" ")
            daemon = [
                "--daemon",
                "--foreground",
                "--port",
                str(PORT),
                "--num_children",
                str(options.clients),
                "--quiet",
            ]
            run([*shlex.split(options.vw), *daemon, "-f", "vwmodel"], folder, options, 0)
        print(f"{os.cpu_count()} cores")


if __name__ == "__main__":
    main()
