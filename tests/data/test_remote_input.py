"""Inputs that are URLs: the same bytes as those of files, and one sentence for whatever fails."""

import bz2
import gzip
import sys

import pytest
from web_server import serving

from vwlite.data.blocks import blocks, check_inputs, file_size, fingerprint, prefixes, same_file
from vwlite.data.input_stream import open_input
from vwlite.data.remote_input import remote_status
from vwlite.errors import ExtraMissing, InputDamaged, InputMissing
from vwlite.storage.output_checks import Url, is_url, local_path

TEXT = b"".join(b"%d |a x%d y:%d\n" % (i % 2, i % 7, i) for i in range(20000))


@pytest.fixture
def memory():
    """fsspec's file system in memory, empty."""
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.fixture
def web():
    """A server, and what it was asked for; see ``web_server``."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    files = {
        "/x.vw": TEXT,
        "/x.vw.gz": gzip.compress(TEXT),
        "/cut/x.vw": TEXT,
        "/cut/x.vw.gz": gzip.compress(TEXT),
        "/unknown/x.vw": TEXT,
        "/silent/x.vw": TEXT,
        "/denied": 403,
        "/broken": 500,
        "/empty": b"",
    }
    with serving(files) as served:
        yield served


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("s3://bucket/a", 1), ("memory://a", 1), ("zip://a::s3://b", 1), ("a.vw", 0), ("C://a", 0),
        ("/a://b", 0), ("-", 0), ("a:b", 0), ("1 |a http://b", 0), ("", 0),
    ],
)
def test_urls_are_told_from_paths(path, url):
    assert is_url(path) == bool(url)


def test_a_url_of_a_file_has_its_path():
    assert local_path("file:///a/b%20c") == "/a/b c"
    assert local_path("s3://a/b") == "s3://a/b"


def test_a_url_among_paths_keeps_its_slashes():
    from os import fspath

    assert fspath(Url("s3://a//b")) == "s3://a//b"


def test_plain_and_compressed_bytes_from_memory(memory):
    memory.pipe({"/a/x.vw": TEXT, "/a/x.vw.gz": gzip.compress(TEXT), "/a/x": bz2.compress(TEXT)})
    for name in ("x.vw", "x.vw.gz", "x"):
        with open_input(f"memory://a/{name}") as stream:
            assert stream.readall() == TEXT


def test_blocks_of_a_file_url_are_those_of_its_path(tmp_path):
    pytest.importorskip("fsspec")
    path = tmp_path / "x.vw"
    path.write_bytes(TEXT)

    def seen(name):
        return [(bytes(block.data[: block.size]), block.offset) for block in blocks([name], 4096)]

    assert seen(str(path)) == seen(path.as_uri()) and len(seen(str(path))) > 50


def test_bytes_from_a_web_server(web):
    address, asked = web
    for name in ("x.vw", "x.vw.gz", "unknown/x.vw"):
        with open_input(f"{address}/{name}") as stream:
            assert stream.readall() == TEXT
    with open_input(f"{address}/empty") as stream:
        assert stream.readall() == b""
    assert [method for method, path in asked if path == "/x.vw"] == ["GET"]


def test_a_check_reads_nothing_of_a_url(web):
    address, asked = web
    check_inputs([f"{address}/x.vw"])
    assert asked == [("HEAD", "/x.vw")]


def test_sizes_are_known_where_the_server_tells_them(web, memory):
    memory.pipe({"/x": b"12345"})
    assert file_size(f"{web[0]}/x.vw") == len(TEXT)
    assert file_size(f"{web[0]}/unknown/x.vw") is None
    assert file_size("memory://x") == 5


@pytest.mark.parametrize(
    ("path", "why"),
    [("/none", "404 Not Found"), ("/denied", "403 Forbidden"), ("/broken", "500 Internal Server Error")],
)
@pytest.mark.parametrize("opens", [open_input, lambda url: check_inputs([url]), file_size])
def test_refusals_of_a_server_are_told(web, path, why, opens):
    url = f"{web[0]}{path}"
    with pytest.raises(InputMissing) as error:
        opens(url)
    assert str(error.value) in (f"{url}: {why}", f"{web[0]}/none: no such file")


def test_a_server_that_is_not_there(web):
    with serving({}) as (address, _):
        pass
    with pytest.raises(InputMissing, match=rf"^{address}/x: Connect call failed"):
        open_input(f"{address}/x")


@pytest.mark.parametrize("name", ["x.vw", "x.vw.gz"])
def test_a_connection_that_is_cut(web, name):
    url = f"{web[0]}/cut/{name}"
    with pytest.raises(InputDamaged) as error, open_input(url) as stream:
        stream.readall()
    assert str(error.value).startswith(f"{url}: reading failed: Not enough data to satisfy content length header")


def test_a_server_that_says_no_more(web, monkeypatch):
    monkeypatch.setattr("vwlite.data.remote_input.SILENT", 0.2)
    url = f"{web[0]}/silent/x.vw"
    with pytest.raises(InputDamaged) as error, open_input(url) as stream:
        stream.readall()
    assert str(error.value) == f"{url}: reading failed: the server does not answer"


def test_a_file_that_is_not_in_memory_and_a_directory(memory):
    memory.pipe({"/a/x": b"1"})
    for url, why in (("memory://a/y", "no such file"), ("memory://a", "it is a directory; name the files in it")):
        with pytest.raises(InputMissing) as error:
            check_inputs([url])
        assert str(error.value) == f"{url}: {why}"
    with pytest.raises(InputMissing, match=r"^memory://a/y: no such file$"):
        open_input("memory://a/y")


def test_a_protocol_that_nobody_knows():
    pytest.importorskip("fsspec")
    with pytest.raises(InputMissing, match=r"^nonsense://a: Protocol not known: nonsense$"):
        open_input("nonsense://a")


@pytest.mark.parametrize("module", ["fsspec", "aiohttp"])
def test_without_fsspec_the_extra_is_named(module, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraMissing) as error:
        open_input("https://a/b")
    assert str(error.value) == "https://a/b is a URL; to read it: pip install 'vwlite[remote]'"


def test_a_store_whose_package_is_missing(monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(ExtraMissing) as error:
        open_input("s3://a/b")
    assert str(error.value) == "s3://a/b: Install s3fs to access S3"


def test_a_url_without_an_etag_is_not_settled(memory, web):
    memory.pipe({"/x": b"12345"})
    (actual,) = fingerprint(["memory://x"])
    assert actual == {"path": "memory://x", "size": 5, "settled": False}
    (actual,) = fingerprint([f"{web[0]}/unknown/x.vw"])
    assert actual["size"] is None and not actual["settled"]


def test_an_etag_of_a_store_tells_a_change(memory, monkeypatch):
    memory.pipe({"/x": b"12345"})
    info, tag = type(memory).info, "one"
    monkeypatch.setattr(type(memory), "info", lambda self, path, **how: {**info(self, path), "ETag": tag})
    assert remote_status("memory://x").etag == "one"
    (then,) = fingerprint(["memory://x"])
    assert then["settled"] and same_file(then, fingerprint(["memory://x"])[0])
    tag = "two"
    assert not same_file(then, fingerprint(["memory://x"])[0])


def test_digests_are_those_of_the_text(memory, tmp_path):
    memory.pipe({"/x.gz": gzip.compress(TEXT)})
    (tmp_path / "x").write_bytes(TEXT)
    assert list(prefixes("memory://x.gz", {100})) == list(prefixes(str(tmp_path / "x"), {100}))


def test_options_of_fsspec_for_web_servers_are_kept(monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    from vwlite.data.remote_input import web_options

    monkeypatch.setitem(fsspec.config.conf, "https", {"client_kwargs": {"headers": {"X-Key": "k"}, "trust_env": False}})
    actual = web_options()["client_kwargs"]
    assert (actual["headers"], actual["trust_env"], actual["timeout"].total) == ({"X-Key": "k"}, False, None)
