"""``vwlite.serving``: what clients get, whatever they send and however, and a model that is replaced meanwhile."""

import http.client
import json
import os
import socket
import threading
import time
from contextlib import contextmanager

import pytest

import vwlite
from vwlite.serving.config import ServeConfig
from vwlite.serving.model_source import ModelSource
from vwlite.serving.server import Server

LINES = b"1 'a|w x:0.5 y\n-1 |w y\n1 'b|w z\n"


def train(path, text=LINES, **options):
    model = vwlite.Model(**{"loss_function": "logistic", **options})
    model.learn(text)
    model.save(f"{path}.new")
    os.replace(f"{path}.new", path)


@pytest.fixture
def model(tmp_path):
    path = str(tmp_path / "model")
    train(path)
    return path


@pytest.fixture
def serve(model):
    """Starts a server; returns it. ``server.said`` has its messages."""
    started = []

    def start(**options):
        said = []
        config = ServeConfig(**{"port": 0, "timeout": 2.0, "reload_every": 0.02, **options})
        server = Server(config, ModelSource(model, said.append), said.append)
        server.said = said
        thread = threading.Thread(target=server.run)
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join(20)
        assert not thread.is_alive()


@contextmanager
def connected(server, timeout=20):
    with socket.create_connection(server.server_address[:2], timeout) as connection:
        yield connection


def ask(server, method="POST", path="/predict", body=LINES, kind="text/plain", **headers):
    """The status and the body of the answer."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    try:
        connection.request(method, path, body, {"Content-Type": kind, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def asked(server, data):
    status, body = ask(server, body=json.dumps(data).encode(), kind="application/json")
    return status, json.loads(body) if status == 200 else body.decode()


def rest(connection):
    """All that the server still sends."""
    found = b""
    while piece := connection.recv(1 << 16):
        found += piece
    return found


def expected(model):
    return [float(one) for one in vwlite.load(model).predict(LINES)]


def test_lines_are_answered_as_by_predict(serve, model):
    status, body = ask(serve())
    words = [line.split() for line in body.decode().splitlines()]
    assert status == 200 and [word[1:] for word in words] == [["a"], [], ["b"]]
    assert [float(word[0]) for word in words] == pytest.approx(expected(model), abs=1e-6)


def test_json_of_lines_and_rows(serve, model):
    server = serve()
    status, found = asked(server, {"lines": LINES.decode().splitlines()})
    assert status == 200 and [one.get("tag") for one in found["predictions"]] == ["a", None, "b"]
    assert [one["prediction"] for one in found["predictions"]] == pytest.approx(expected(model))
    rows = [{"w": {"x": 0.5, "y": True}}, {"w": {"y": True}}, {"w": {"z": True}}]
    status, found = asked(server, {"rows": rows})
    assert [one["prediction"] for one in found["predictions"]] == pytest.approx(expected(model))
    assert asked(server, {"lines": []}) == (200, {"predictions": []})


def test_malformed_lines_have_answers(serve):
    server = serve()
    assert ask(server, body=b"|w x:nan\n\n|w y\n")[1].split(b"\n")[0] == b"nan"
    predictions = asked(server, {"lines": ["|w x:nan", "|w y"]})[1]["predictions"]
    assert [one["prediction"] is None for one in predictions] == [True, False]


def test_a_connection_is_kept(serve):
    server = serve()
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    for _ in range(3):
        connection.request("POST", "/predict", LINES)
        assert connection.getresponse().read().count(b"\n") == 3
        assert connection.sock is not None
    connection.close()


def test_health(serve, model):
    server = serve()
    ask(server)
    status, body = ask(server, "GET", "/health", None)
    facts = json.loads(body)
    assert status == 200 and facts["status"] == "ok" and facts["model"] == model and facts["learner"] == "gd"
    assert facts["requests"] == 1 and facts["models_loaded"] == 1 and facts["failure"] is None


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"path": "/nothing"}, 404),
        ({"method": "GET", "body": None}, 405),
        ({"method": "PUT", "path": "/health"}, 405),
        ({"body": b"{", "kind": "application/json"}, 400),
        ({"body": b"[" * 100_000, "kind": "application/json"}, 400),
        ({"body": b"\xff\xfe\x00{", "kind": "application/json"}, 400),
        ({"body": b'{"lines": "|a"}', "kind": "application/json"}, 400),
        ({"body": b'{"lines": [1]}', "kind": "application/json"}, 400),
        ({"body": b'{"lines": ["|a\\n|b"]}', "kind": "application/json"}, 400),
        ({"body": b'{"lines": [], "rows": []}', "kind": "application/json"}, 400),
        ({"body": b'{"rows": [{"a": [1, {}]}]}', "kind": "application/json"}, 400),
        ({"Content-Length": "x"}, 411),
        ({"Content-Length": "9" * 30, "body": b""}, 413),
        ({"body": [LINES]}, 411),  # chunks
        ({"Content-Length": "0" * 20 + "9" * 9, "body": b""}, 413),
        ({"Content-Length": "9" * 5000, "body": b""}, 413),
        ({"Content-Length": "0" * 5000 + "9", "body": b"|w x\n|w \n"}, 200),
        ({"body": b'{"lines": ["|w \\ud800"]}', "kind": "application/json"}, 400),
        ({"body": b'{"lines": ["\'\\udc00 |w x"]}', "kind": "application/json"}, 400),
        ({"body": b'{"rows": [{"w": {"\\ud800": 1}}]}', "kind": "application/json"}, 400),
        ({"body": b'{"rows": [{"w": "\\ud800"}]}', "kind": "application/json"}, 400),
        ({"body": b'{"\\ud800": []}', "kind": "application/json"}, 400),
        ({"body": b'{"rows": [{"w": {"x": 1%s}}]}' % (b"0" * 5000), "kind": "application/json"}, 400),
    ],
)
def test_what_is_refused(request_, status, serve):
    server = serve()
    found, said = ask(server, **request_)
    assert found == status and said.endswith(b"\n") and b"Traceback" not in said
    assert ask(server)[0] == 200


def test_a_length_is_told_once(serve):
    server = serve()
    with connected(server) as connection:
        twice = b"Content-Length: 5\r\nContent-Length: 6\r\n"
        connection.sendall(b"POST /predict HTTP/1.1\r\n%s\r\n|w x\n\n" % twice)
        assert b" 400 " in rest(connection)


def test_what_comes_with_a_get_is_no_request(serve):
    """Else whoever speaks through a proxy could have the next client of its connection get another answer."""
    server = serve()
    with connected(server) as connection:
        inner = b"POST /predict HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
        connection.sendall(b"GET /health HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(inner) + inner)
        assert rest(connection).count(b"HTTP/1.1 ") == 1


def test_a_failure_that_nobody_expected_has_an_answer(serve, monkeypatch):
    def fail(self, lines, kind=None):
        raise ZeroDivisionError("a bug")

    server = serve()
    monkeypatch.setattr("vwlite.serving.model_source.Served.text", fail)
    assert ask(server) == (500, b"the request failed: ZeroDivisionError\n")
    assert server.said == ["a request failed: ZeroDivisionError: a bug"]
    assert ask(server, "GET", "/health", None)[0] == 200


def test_a_request_that_is_too_large(serve):
    server = serve(max_request=0.01)
    status, said = ask(server, body=b"|w x\n" * 20_000)
    assert (status, said) == (413, b"a request may have 0.01 MiB\n")
    assert ask(server)[0] == 200


@pytest.mark.parametrize("sent", [b"", b"POST /pre", b"POST /predict HTTP/1.1\r\nContent-Length: 9\r\n"])
def test_a_client_that_hangs_is_left(sent, serve):
    server = serve(timeout=0.2)
    with connected(server) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        assert rest(connection) == b""
        assert time.monotonic() - began < 10


def test_a_client_that_hangs_in_its_request_is_told(serve):
    server = serve(timeout=0.2)
    with connected(server) as connection:
        connection.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n|w x")
        assert b" 408 " in rest(connection)


def test_a_client_that_trickles_is_left(serve):
    """Each byte comes in time, the request does not."""
    server = serve(timeout=0.5)
    with connected(server) as connection:
        began = time.monotonic()
        with pytest.raises(OSError):
            for _ in range(200):
                connection.sendall(b"P")
                time.sleep(0.05)
        assert time.monotonic() - began < 8


def test_a_client_that_does_not_read_is_left(serve):
    server = serve(timeout=0.3, workers=1)
    body = b"|w x\n" * 1_000_000
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        assert ask(server)[0] == 200


def test_a_client_that_goes_away(serve):
    server = serve(workers=1)
    begun = b"POST /predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n|w"
    for sent in (begun, b"\x00\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        with connected(server) as connection:
            connection.sendall(sent)
    assert ask(server)[0] == 200
    assert server.said == []


def test_more_clients_than_workers_wait_and_more_than_that_are_told(serve, monkeypatch):
    monkeypatch.setattr("vwlite.serving.server.WAITING", 2)
    server = serve(workers=1, timeout=1.0)
    hanging = [socket.create_connection(server.server_address[:2], 20) for _ in range(8)]
    try:
        answers = [rest(connection) for connection in hanging]
        assert 4 <= sum(b" 503 " in answer for answer in answers) <= 6
        assert ask(server)[0] == 200
        assert threading.active_count() < 12
    finally:
        for connection in hanging:
            connection.close()


def test_a_replaced_model_answers_and_no_request_is_lost(serve, model):
    server = serve()
    before = ask(server)[1]
    train(f"{model}.other", b"1 |w x y z\n" * 50)
    answers, failures, stop = [], [], threading.Event()

    def client():
        while not stop.is_set():
            status, body = ask(server)
            (answers if status == 200 else failures).append(body)

    clients = [threading.Thread(target=client) for _ in range(3)]
    for one in clients:
        one.start()
    for count in range(2, 7):
        train(model, b"1 |w x y z\n" * count)
        while server.source.loaded < count:
            time.sleep(0.01)
    os.replace(f"{model}.other", model)
    while server.source.loaded < 7:
        time.sleep(0.01)
    after = ask(server)[1]
    stop.set()
    for one in clients:
        one.join()
    assert failures == [] and len(answers) > 5 and after != before
    assert server.source.loaded == 7


def test_a_model_that_cannot_be_loaded_leaves_the_one_before(serve, model):
    server = serve()
    before = ask(server)[1]
    with open(f"{model}.bad", "wb") as file:
        file.write(b"no model")
    os.replace(f"{model}.bad", model)
    while not server.source.failure:
        time.sleep(0.01)
    os.unlink(model)
    time.sleep(0.1)
    assert ask(server)[1] == before
    assert json.loads(ask(server, "GET", "/health", None)[1])["failure"]
    train(model, b"1 |w x y z\n" * 9)
    while server.source.loaded < 2:
        time.sleep(0.01)
    assert ask(server)[1] != before and server.source.failure == ""
    assert [said.startswith("the model from before stays") for said in server.said] == [True, True, False]


def test_groups_of_lines_are_text(serve, model):
    train(model, b"1:1 |w x\n2:0 |w y\n\n", loss_function="squared", csoaa_ldf="multiline")
    server = serve()
    assert ask(server, body=b"1 |w x\n2 |w y\n\n")[1].count(b"\n") == 3
    status, said = asked(server, {"lines": ["1 |w x"]})
    assert (status, json.loads(said)) == (400, {"error": "a model of groups of lines answers to text only"})


def test_requests_that_have_begun_are_answered_at_the_end(serve):
    server = serve()
    with connected(server) as connection:
        connection.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(LINES))
        time.sleep(0.2)
        threading.Thread(target=server.shutdown).start()
        time.sleep(0.2)
        connection.sendall(LINES)
        assert b" 200 " in rest(connection)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"POST /pre", b""),
        (b"POST /predict HTTP/1.1\r\nContent-Length: 99\r\n\r\n|w x", b"the server is being stopped\n"),
    ],
)
def test_whoever_does_not_finish_holds_up_no_stop(sent, answer, serve):
    server = serve(timeout=30.0)
    with connected(server) as connection:
        connection.sendall(sent)
        time.sleep(0.2)
        began = time.monotonic()
        server.shutdown()
        server.threads[0].join(20)
        for thread in server.threads[:-1]:
            thread.join(20)
        assert time.monotonic() - began < 5
        said = rest(connection)
        assert said.endswith(answer) and (not answer or b" 503 " in said)


def test_whoever_does_not_read_holds_up_no_stop(serve):
    server = serve(timeout=30.0, workers=1)
    body = b"|w x\n" * 1_000_000
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        began = time.monotonic()
        server.shutdown()
        server.threads[0].join(25)
        assert not server.threads[0].is_alive() and time.monotonic() - began < 20


def test_a_model_of_a_table_reads_tables(tmp_path, serve, model):
    table = tmp_path / "table.csv"
    table.write_text("click,city,age\n1,oslo,.5\n-1,rome,2\n1,oslo,1\n")
    vwlite.train(table, columns="label=click user=city,age", kind="csv").save(model)
    server = serve()
    named = b"city,age\noslo,.5\nrome,2\noslo,x\n"
    status, body = ask(server, body=named)
    first, second, third = (float(line) for line in body.split())
    assert status == 200 and first > 0 > second and third != third
    assert ask(server, body=named, kind="text/csv") == (200, body)
    assert ask(server, body=named.replace(b",", b"\t"), kind="text/tab-separated-values") == (200, body)
    lines = b'{"city": "oslo", "age": 0.5}\n{"age": 2, "city": "rome"}\n'
    assert ask(server, body=lines, kind="application/x-ndjson") == (200, body[: body.index(b"nan")])
    found = asked(server, {"rows": [json.loads(line) for line in lines.splitlines()]})[1]["predictions"]
    assert [one["prediction"] for one in found] == pytest.approx([first, second], abs=1e-6)
    status, said = ask(server, body=b"town,age\noslo,.5\n")
    assert status == 400 and b"city" in said


def test_a_model_of_text_has_no_columns(serve):
    status, said = ask(serve(), body=b"a,b\n1,2\n", kind="text/csv")
    assert status == 400 and b"not from a table" in said


@pytest.fixture
def of_table(tmp_path, serve, model):
    """A server of a model of a CSV with city, age and a column that may be missing."""
    table = tmp_path / "table.csv"
    table.write_text("click,city,age,zip\n1,oslo,.5,7\n-1,rome,2,8\n1,oslo,1,9\n")
    vwlite.train(table, columns="label=click user=city,age,zip:text?", kind="csv").save(model)
    return serve()


def test_rows_that_lack_columns_are_told(of_table):
    whole = {"city": "oslo", "age": 0.5, "zip": "7"}
    first = asked(of_table, {"rows": [whole, {**whole, "more": 1}]})[1]
    assert set(first) == {"predictions"}
    for lacking in ({"city": "oslo", "zip": "7"}, {"city": "oslo", "age": None}):
        status, found = asked(of_table, {"rows": [whole, lacking]})
        assert status == 200 and len(found["predictions"]) == 2
        assert found.get("warnings", []) == (
            [] if "age" in lacking else ["no column 'age' in rows[1]: predicted without it"]
        )
    rows = [{"city": "oslo", "aeg": 1}] * 5
    assert asked(of_table, {"rows": rows})[1]["warnings"] == [
        "no column 'age' in rows[0], rows[1], rows[2] and 2 more: predicted without it (is it 'aeg'?)"
    ]


def test_rows_without_any_known_column_are_refused(of_table):
    why = "rows[1] has no column that the model knows: it has town, zap; the model has learned city, age, zip"
    status, said = asked(of_table, {"rows": [{"city": "oslo", "age": 1}, {"town": "oslo", "zap": 1}]})
    assert status == 400 and json.loads(said) == {"error": why}
    assert asked(of_table, {"rows": [{}]})[0] == 400
    lines = b'{"city": "oslo", "age": 1}\n{"town": "oslo", "zap": 1}\n'
    status, said = ask(of_table, body=lines, kind="application/x-ndjson")
    assert (status, said.decode()) == (400, why.replace("rows[1]", "line 2") + "\n")
    assert ask(of_table, body=lines[:27] + b"{odd\n", kind="application/x-ndjson")[1].split()[1] == b"nan"


def header_of(server, body, kind):
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    connection.request("POST", "/predict", body, {"Content-Type": kind})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("X-Warning")


def test_warnings_of_text_stand_in_a_header(of_table):
    assert header_of(of_table, b'{"city": "oslo", "age": 1}\n', "application/x-ndjson") == (200, None)
    assert header_of(of_table, '{"city": "oslo", "åge": 1}\n'.encode(), "application/x-ndjson") == (
        200, "no column 'age' in line 1: predicted without it (is it '\\xe5ge'?)"
    )  # fmt: skip
    assert header_of(of_table, b"city,age\noslo,1\n", "text/csv") == (200, None)
    assert header_of(of_table, b"city,aeg\noslo,1\n", "text/csv")[0] == 400


def test_features_that_the_model_does_not_know_are_told(serve):
    server = serve()
    warned = "changed a prediction: it is that of a row without features"
    (said,) = asked(server, {"lines": ["|v q", "|v z"]})[1]["warnings"]
    assert said.startswith(f"no feature of the data {warned}")
    assert "warnings" not in asked(server, {"lines": ["|w x", "|v z"]})[1]  # as one may not know all users
    (said,) = asked(server, {"rows": [{"w": {"x": 1}}, {"v": {"x": 1}}]})[1]["warnings"]
    assert said.startswith(f"no feature of rows[1] {warned}")
    assert header_of(server, b"|v q\n", "text/plain")[1].startswith("no feature of the data")
    assert header_of(server, LINES, "text/plain")[1] is None
