"""Lines over TCP: what public clients of vw's daemon send and read, and models that stay whole under load."""

import errno
import os
import socket
import threading
from contextlib import contextmanager, suppress

import pytest
from http_clients import rest

import vwlite
from vwlite.data.config import InputConfig
from vwlite.serving.lines import FollowedModel, LineServer, OwnModel
from vwlite.serving.model_source import ModelSource
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import start

LABELS = {"csoaa": "1:0 2:1 3:2", "cb_explore": "1:2:0.4", "multilabel_oaa": "1,2"}  # others have 1
DATA = "1 'a|w x\n-1 |w y\n" * 5


@pytest.fixture
def path(tmp_path):
    model = vwlite.Model()
    model.learn(DATA)
    model.save(tmp_path / "model")
    return str(tmp_path / "model")


def own(path, **options):
    config, model = start(RunConfig(input=InputConfig(("-",), threads=1)), path, {})
    return OwnModel(config, model.learner, model.plan, model, path, **options)


@contextmanager
def running(model, **options):
    said = []
    server = LineServer("127.0.0.1", 0, model, said.append, **options)
    server.said = said
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server
    server.stop()
    thread.join(10)
    assert not thread.is_alive()


@contextmanager
def client(server):
    with socket.create_connection(server.address, 20) as connection, connection.makefile("rwb") as file:
        yield connection, file


def say(file, line):
    file.write(line)
    file.flush()
    return file.readline()


def expected(path, text):
    """What one line after the other is answered and learned by a model of the file."""
    model = vwlite.Model.load(path)
    return [float(model.learn(line + "\n", keep_predictions=True).predictions[0]) for line in text.splitlines()]


def test_a_line_is_sent_and_a_line_is_read(path):
    """govw (Go): one connection is kept; the answer is split at blanks into a number and a tag."""
    with running(FollowedModel(ModelSource(path, print), 1.0)) as server, client(server) as (_, file):
        for _ in range(3):
            number, tag = say(file, b"1 tag_name| 100:1 200:0.45 w\n").split()
            assert (float(number), tag) == (pytest.approx(float(number)), b"tag_name")
        assert say(file, b"|w x\n").split()[0] == b"%f" % vwlite.Model.load(path).predict("|w x\n")[0]


def test_lines_are_learned_and_the_model_saved_without_an_answer(path, tmp_path):
    """VowpalClient (Elixir) and clj-vw (Clojure): train, predict, then save_PATH, to which no answer is read."""
    texts = ["-1 |features a:1 b:1 c:1", "|features a:1 b:1 c:1", "1 0 |features a:1", "|features a:1 b:1 d:1"]
    with running(own(path)) as server, client(server) as (_, file):
        answers = [float(say(file, line.encode() + b"\n")) for line in texts]
        assert answers == pytest.approx(expected(path, "\n".join(texts)), abs=1e-6)
        target = tmp_path / "saved"
        file.write(b"save_%s\n" % str(target).encode())
        again = float(say(file, b"|features a:1 b:1 c:1\n"))
        assert again == pytest.approx(float(vwlite.Model.load(target).predict("|features a:1 b:1 c:1\n")[0]), abs=1e-6)
        for line in (b"save_%s2|\n", b"'save_%s3 |\r\n", b"save\n"):
            file.write(line.replace(b"%s", str(target).encode()))
        assert say(file, b"|w x\n")
        saved = {(tmp_path / name).read_bytes() for name in ("saved2", "saved3", "model")}
        assert len(saved) == 1


def test_a_file_is_sent_whole_and_the_writing_side_closed(path):
    """Netcat and active_interactor.py (Python): the last line may lack its end; then answers are read to the end."""
    with running(FollowedModel(ModelSource(path, print), 1.0)) as server, client(server) as (connection, _):
        connection.sendall(b"'one |w x\n\n'two |w y\r\nfoo |w x\n'three |w x")
        connection.shutdown(socket.SHUT_WR)
        tags = [line.split()[1:] or line for line in rest(connection).splitlines()]
        assert tags == [[b"one"], [b"two"], b"nan", [b"three"]]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"oaa": 3, "probabilities": True, "loss_function": "logistic"},
        {"multilabel_oaa": 3},
        {"csoaa": 3},
        {"cb_explore": 3},
        {"active": True},
        {"confidence": True},
        {"nn": 2},
    ],
)
def test_every_line_has_one_answer_whatever_is_in_it(options, tmp_path):
    form = next((label for name, label in LABELS.items() if name in options), "1")
    model = vwlite.Model(**options)
    model.learn(f"{form} |w x\n{form} |w y\n")
    model.save(tmp_path / "model")
    odd = [
        b"|",
        b" ",
        b"foo |w",
        b"|w x:nan",
        b"'a\rb |w \x0b\x85",
        b"|w x:1:2",
        b"nan |w",
        b"\xff |",
        b"saved |w",
        b"|w \0",
    ]
    text = b"".join(line + b"\n%s |w x\n" % form.encode() for line in odd)
    for served in (own(str(tmp_path / "model")), FollowedModel(ModelSource(str(tmp_path / "model"), print), 1.0)):
        with running(served) as server, client(server) as (connection, _):
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            assert rest(connection).count(b"\n") == 2 * len(odd)


def test_groups_are_answered_at_their_empty_line(tmp_path):
    model = vwlite.Model(csoaa_ldf="mc")
    model.learn("1:0 |a x\n2:1 |a y\n\n")
    model.save(tmp_path / "groups")
    with running(own(str(tmp_path / "groups"))) as server, client(server) as (connection, file):
        file.write(b"1 |a x\n2 |a y\n")
        file.flush()
        connection.settimeout(0.2)
        with suppress(TimeoutError):
            assert not connection.recv(10)
        connection.settimeout(20)
        connection.sendall(b"\n1 |a x\n2 |a y")
        connection.shutdown(socket.SHUT_WR)
        assert rest(connection) == b"1\n0\n\n" * 2


def test_clients_that_break_the_protocol_are_cut(path, tmp_path):
    with running(own(path), limit=1 << 10, loopback=False) as server:
        with client(server) as (connection, _):
            connection.sendall(b"\0")
            assert rest(connection) == b""
        with client(server) as (connection, _), suppress(ConnectionError):
            connection.sendall(b"|w " + b"x" * 5000)
            assert rest(connection) == b""
        with client(server) as (_, file):
            file.write(b"save_%s\n" % str(tmp_path / "stolen").encode())
            assert say(file, b"|w x\n")
        assert not (tmp_path / "stolen").exists()
        assert [text.split()[0:2] for text in server.said] == [["a", "client"], ["a", "line"], ["a", "line"]]


def test_many_clients_get_each_answer_once_and_saves_are_whole(path, tmp_path):
    target, lost = str(tmp_path / "saved"), []

    def work(number, server):
        with client(server) as (connection, file):
            for turn in range(5):
                tags = [b"%d_%d_%d" % (number, turn, index) for index in range(5)]
                file.write(b"".join(b"%d 1 %s|w x%d y\n" % (number % 3, tag, number) for tag in tags))
                file.write(b"save_%s\n" % target.encode())
                file.flush()
                if [file.readline().split()[1] for _ in tags] != tags:
                    lost.append(number)
            connection.shutdown(socket.SHUT_WR)
            lost.extend(rest(connection))

    served = own(path)
    with running(served) as server:
        threads = [threading.Thread(target=work, args=(number, server)) for number in range(40)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.05)
            with suppress(vwlite.InputMissing):
                vwlite.Model.load(target)
    assert (lost, server.lines, server.said) == ([], 40 * 5 * 5, [])
    assert vwlite.Model.load(target).counters["example_number"] == 1010


def test_a_save_on_a_full_disk_leaves_the_model_before(path, tmp_path, monkeypatch):
    before = (tmp_path / "model").read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with running(own(path, every=0.01)) as server, client(server) as (_, file):
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            for _ in range(3):
                file.write(b"save\n")
                assert say(file, b"1 |w x\n")
        assert (tmp_path / "model").read_bytes() == before
        assert "the disk is full" in server.said[0]
        file.write(b"save\n")
        assert say(file, b"|w x\n")
        assert vwlite.Model.load(path).counters["example_number"] == 13
