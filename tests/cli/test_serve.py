"""``vwlite serve`` as a process."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

DATA = "1 'a|w x\n-1 |w y\n"


@pytest.fixture
def model(vwlite, write):
    vwlite("train", write("data.vw", DATA), "-f", "model", "--quiet")
    return "model"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_until_a_signal_ends_it(number, model, vwlite, tmp_path, cli_env):
    command = [sys.executable, "-m", "vwlite", "serve", "-i", model, "--port", "0"]
    limits = ["--workers", "2", "--timeout", "5s", "--max-request", "1", "--reload-every", "2s", "--max-memory", "1"]
    limits += ["--sample", "7"]
    options = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": lambda: signal.signal(number, signal.SIG_DFL)}
    process = subprocess.Popen([*command, *limits], cwd=tmp_path, env=cli_env, **options)
    with process:
        port = int(re.search(r":(\d+)$", process.stderr.readline())[1])
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("POST", "/predict", DATA)
        assert client.getresponse().read().decode() == vwlite("predict", "-i", model, "data.vw").stdout
        client.close()
        process.send_signal(number)
        assert process.stderr.read() == "vwlite: stopped after 1 requests\n"
    assert process.returncode == 0


def test_models_and_addresses_that_fail_are_told(model, vwlite, write):
    assert vwlite("serve", "-i", "nosuch", status=66).stderr.startswith("vwlite: cannot open the model nosuch")
    done = vwlite("serve", "-i", model, "--host", "192.0.2.1", "--port", 0, status=73)
    assert "cannot listen on 192.0.2.1:0" in done.stderr
    assert "--port takes 0 to 65535" in vwlite("serve", "-i", model, "--port", 70000, status=2).stderr
    vwlite("l1", "data.vw", "--model", "multinomial", "-f", "named", "--passes", 1, "--quiet")
    assert "a model of named labels is not served" in vwlite("serve", "-i", "named", "--quiet", status=2).stderr
    assert "--learn needs --lines" in vwlite("serve", "-i", model, "--learn", status=2).stderr
    assert (
        "--save-every needs --learn"
        in vwlite("serve", "-i", model, "--lines", 0, "--save-every", "1s", status=2).stderr
    )


def sent(port, data):
    """All that is answered."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection, connection.makefile("rb") as file:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return file.read().decode()


@pytest.mark.parametrize("learning", [True, False])
def test_lines_until_a_signal_that_saves(learning, model, vwlite, tmp_path, cli_env):
    before = (tmp_path / model).read_bytes()
    options = ["--learn", "--save-every", "1h"] if learning else []
    command = [sys.executable, "-m", "vwlite", "serve", "-i", model, "--lines", "0", *options]
    with subprocess.Popen(command, cwd=tmp_path, env=cli_env, stderr=subprocess.PIPE, text=True) as process:
        port = int(re.search(r":(\d+)$", process.stderr.readline())[1])
        if learning:
            assert "is locked by another training" in vwlite("train", "data.vw", "-f", model, status=75).stderr
        answers = sent(port, DATA.encode())
        process.terminate()
        assert process.stderr.read() == "vwlite: stopped after 2 lines\n"
    assert process.returncode == 0
    assert [line.split()[1:] for line in answers.splitlines()] == [["a"], []]
    assert ((tmp_path / model).read_bytes() != before) == learning


def test_a_daemon_as_vw_has_it(vwlite, write, tmp_path, cli_env):
    write("data.vw", DATA)
    answers = vwlite("vw", "-d", "data.vw", "-p", "/dev/stdout", "-f", "plain", "-q", "ww", "--quiet").stdout
    line = ["vw", "--daemon", "--port", "0", "--port_file", "port", "--pid_file", "pid", "--num_children", "4"]
    line += ["-q", "ww", "-f", "learned", "--quiet"]
    for background in (False, True):
        command = [sys.executable, "-m", "vwlite", *line, *([] if background else ["--foreground"])]
        with subprocess.Popen(command, cwd=tmp_path, env=cli_env) as process:
            if background:
                assert process.wait(20) == 0
            wait_for(lambda: (tmp_path / "pid").exists())
            assert sent(int((tmp_path / "port").read_text()), DATA.encode()) == answers
            pid = int((tmp_path / "pid").read_text())
            assert (pid == process.pid) != background
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: (tmp_path / "learned").exists() and not (tmp_path / "learned.lock").exists())
        shown = [
            vwlite("vw", "-t", "-i", model, "-d", "data.vw", "-p", "/dev/stdout", "--quiet").stdout
            for model in ("plain", "learned")
        ]
        assert shown[0] == shown[1]
        for name in ("pid", "port", "learned"):
            (tmp_path / name).unlink()


def test_a_daemon_that_cannot_begin(vwlite):
    assert "cannot open the model nosuch" in vwlite("vw", "--daemon", "-i", "nosuch", "--foreground", status=1).stdout
    done = vwlite("vw", "--daemon", "--readable_model", "r", status=1)
    assert "--readable_model does not go with --daemon" in done.stdout


def wait_for(found):
    end = time.monotonic() + 20
    while not found() and time.monotonic() < end:
        time.sleep(0.02)
    assert found()
