"""A server in this process."""

import threading

import pytest
from http_clients import train

from vwlite.serving.config import ServeConfig
from vwlite.serving.model_source import ModelSource
from vwlite.serving.server import Server


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
        server.said, forever = said, server.serve_forever
        server.serve_forever = lambda poll_interval: forever(0.02)  # else it takes half a second to stop
        thread = threading.Thread(target=server.run)
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join(20)
        assert not thread.is_alive()
