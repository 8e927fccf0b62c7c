"""``vwlite serve`` as a process."""

import http.client
import re
import signal
import subprocess
import sys

import pytest

DATA = "1 'a|w x\n-1 |w y\n"


@pytest.fixture
def model(vwlite, write):
    vwlite("train", write("data.vw", DATA), "-f", "model", "--quiet")
    return "model"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_answers_until_a_signal_ends_it(number, model, vwlite, tmp_path, cli_env):
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


def test_what_cannot_be_served(model, vwlite, write):
    assert vwlite("serve", "-i", "nosuch", status=66).stderr.startswith("vwlite: cannot open the model nosuch")
    done = vwlite("serve", "-i", model, "--host", "192.0.2.1", "--port", 0, status=73)
    assert "cannot listen on 192.0.2.1:0" in done.stderr
    assert "--port takes 0 to 65535" in vwlite("serve", "-i", model, "--port", 70000, status=2).stderr
    vwlite("l1", "data.vw", "--model", "multinomial", "-f", "named", "--passes", 1, "--quiet")
    assert "are not served" in vwlite("serve", "-i", "named", "--quiet", status=2).stderr
