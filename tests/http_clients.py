"""Clients of ``vwlite serve``, and a model for it."""

import http.client
import json
import os
import socket
from contextlib import contextmanager

import vwlite

LINES = b"1 'a|w x:0.5 y\n-1 |w y\n1 'b|w z\n"


def train(path, text=LINES, **options):
    model = vwlite.Model(**{"loss_function": "logistic", **options})
    model.learn(text)
    model.save(f"{path}.new")
    os.replace(f"{path}.new", path)


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
    result = b""
    while piece := connection.recv(1 << 16):
        result += piece
    return result
