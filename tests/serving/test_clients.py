"""What clients do that is odd, slow, large or hostile: each has an answer or is left, and holds up nobody else."""

import socket
import threading
import time

import pytest
from http_clients import LINES, ask, connected, rest


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
def test_wrong_requests_have_their_status(request_, status, serve):
    server = serve()
    actual, said = ask(server, **request_)
    assert actual == status and said.endswith(b"\n") and b"Traceback" not in said
    assert ask(server)[0] == 200


def test_a_request_of_two_lengths_is_refused(serve):
    server = serve()
    with connected(server) as connection:
        twice = b"Content-Length: 5\r\nContent-Length: 6\r\n"
        connection.sendall(b"POST /predict HTTP/1.1\r\n%s\r\n|w x\n\n" % twice)
        assert b" 400 " in rest(connection)


def test_the_body_of_a_get_is_no_request(serve):
    """Else whoever speaks through a proxy could have the next client of its connection get another answer."""
    server = serve()
    with connected(server) as connection:
        inner = b"POST /predict HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
        connection.sendall(b"GET /health HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(inner) + inner)
        assert rest(connection).count(b"HTTP/1.1 ") == 1


def test_an_unexpected_failure_has_an_answer(serve, monkeypatch):
    def fail(self, lines, kind=None):
        raise ZeroDivisionError("a bug")

    server = serve()
    monkeypatch.setattr("vwlite.serving.model_source.Served.text", fail)
    assert ask(server) == (500, b"the request failed: ZeroDivisionError\n")
    assert server.said == ["a request failed: ZeroDivisionError: a bug"]
    assert ask(server, "GET", "/health", None)[0] == 200


def test_a_request_that_is_too_large_is_refused(serve):
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


def test_a_client_that_goes_away_holds_up_nobody(serve):
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
def test_a_client_that_does_not_finish_holds_up_no_stop(sent, answer, serve):
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


def test_a_client_that_does_not_read_holds_up_no_stop(serve):
    server = serve(timeout=30.0, workers=1)
    body = b"|w x\n" * 1_000_000
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"POST /predict HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        began = time.monotonic()
        server.shutdown()
        server.threads[0].join(25)
        assert not server.threads[0].is_alive() and time.monotonic() - began < 20
