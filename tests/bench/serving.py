"""Latency of ``vwlite serve``: requests of some lines from several clients, while the model is replaced.

Usage: serving.py [--requests 10000] [--lines 100] [--clients 2]
"""

import argparse
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def client(port, body, count, times, lost):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(count):
        began = time.perf_counter()
        try:
            connection.request("POST", "/predict", body)
            answer = connection.getresponse()
            if answer.status != 200 or answer.read().count(b"\n") != body.count(b"\n"):
                lost.append(answer.status)
        except OSError as error:
            lost.append(error)
            connection.close()
        times.append(time.perf_counter() - began)


def resident(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("requests", 10_000), ("lines", 100), ("clients", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    vwlite = [sys.executable, "-m", "vwlite"]
    subprocess.run([*vwlite, "samples", folder], check=True)
    subprocess.run([*vwlite, "train", "clicks.vw", "-f", "model", "--quiet", "-q", "ua"], cwd=folder, check=True)
    server = subprocess.Popen(
        [*vwlite, "serve", "-i", "model", "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    port = int(re.search(r":(\d+)$", server.stderr.readline())[1])
    threading.Thread(target=server.stderr.read, daemon=True).start()
    text = Path(folder, "clicks-test.vw").read_bytes().splitlines(keepends=True)
    body, times, lost = b"".join(text[: options.lines]), [], []
    share = options.requests // options.clients
    clients = [threading.Thread(target=client, args=(port, body, share, times, lost)) for _ in range(options.clients)]
    began, replaced = time.perf_counter(), 0
    for one in clients:
        one.start()
    while any(one.is_alive() for one in clients):
        time.sleep(1)
        shutil.copy(Path(folder, "model"), Path(folder, "new"))
        os.replace(Path(folder, "new"), Path(folder, "model"))
        replaced += 1
    seconds = time.perf_counter() - began
    peak = resident(server.pid)
    server.terminate()
    server.wait()
    shutil.rmtree(folder)
    times.sort()
    p50, p99 = (1000 * times[int(len(times) * share)] for share in (0.5, 0.99))
    print(
        f"{len(times)} requests of {options.lines} lines, {options.clients} clients, {replaced} models: "
        f"{len(times) / seconds:.0f} a second, p50 {p50:.2f} ms, p99 {p99:.2f} ms, {len(lost)} lost, {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
