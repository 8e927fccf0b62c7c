"""Commands on data that are URLs: the same models, predictions and refusals as on files."""

import gzip
import json
import subprocess
import sys

import pytest
from web_server import serving

TEXT = "".join(f"{i % 2 * 2 - 1} 'tag{i} |a x{i % 7} y:{i % 3} z{i % 2}\n" for i in range(3000))
TABLE = "label,color,size\n" + "".join(f"{i % 2},c{i % 5},{i % 9}\n" for i in range(500))


@pytest.fixture
def address():
    """The address of a web server with data."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")
    files = {
        "/t.vw": TEXT.encode(),
        "/t.vw.gz": gzip.compress(TEXT.encode()),
        "/t.csv": TABLE.encode(),
        "/cut/t.vw": TEXT.encode() * 50,
        "/denied": 403,
        "/a=1/t.vw": TEXT.encode(),
    }
    with serving(files) as (address, _):
        yield address


@pytest.fixture
def memory():
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.store.clear()
    system.pipe({"/t.vw": TEXT.encode()})
    yield system
    system.store.clear()


def last(done):
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["t.vw", "t.vw.gz"])
def test_a_model_of_a_url_has_the_bytes_of_one_of_a_file(vwlite, write, tmp_path, address, name):
    write("t.vw", TEXT)
    vwlite("train", "t.vw", "-f", "file", "--quiet", "--passes", "2")
    vwlite("train", f"{address}/{name}", "-f", "url", "--quiet", "--passes", "2")
    assert (tmp_path / "url").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "-i", "m"),
        ("evaluate", "-i", "m"),
        ("explain", "-i", "m"),
        ("check",),
        ("convert", "vw"),
        ("vw", "-t", "-i", "m", "-p", "/dev/stdout", "--quiet", "-d"),
        ("l1", "--model", "binary", "-f", "l"),
        ("crr", "-f", "c", "--steps", "100", "--qid", "none"),
    ],
    ids=lambda command: command[0],
)
def test_commands_print_the_same(vwlite, write, memory, command):
    write("t.vw", TEXT)
    vwlite("train", "t.vw", "-f", "m", "--loss_function", "logistic", "--quiet")
    words = [*command, "--to", "svmlight"] if command[0] == "convert" else [*command]
    at = words.index("-d") + 1 if "-d" in words else len(command)
    file, url = (vwlite(*words[:at], name, *words[at:]).stdout for name in ("t.vw", "memory://t.vw"))
    assert url.replace("memory://t.vw", "t.vw") == file


def test_a_server_is_asked_few_times(vwlite):
    pytest.importorskip("aiohttp")
    with serving({"/t.vw": TEXT.encode()}) as (address, asked):
        vwlite("train", f"{address}/t.vw", "-f", "m")
    methods = [method for method, _ in asked]
    assert methods.count("GET") == 2 and len(methods) <= 7  # one to see whether it is compressed


def test_tables_and_held_out_data(vwlite, write, tmp_path, address, memory):
    write("t.csv", TABLE)
    for name, source in (("file", "t.csv"), ("url", f"{address}/t.csv")):
        vwlite("train", source, "--format", "csv", "--columns", "label=label", "-f", name, "--quiet")
    assert (tmp_path / "url").read_bytes() == (tmp_path / "file").read_bytes()
    stdout = vwlite("tune", "memory://t.vw", "--test", "memory://t.vw", "--vary", "l 0.1|0.5").stdout
    assert stdout.startswith("vwlite train memory://t.vw ")


def test_a_table_of_parquet_at_a_url_is_learned(vwlite, tmp_path, address, memory):
    parquet, pyarrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    table = pyarrow.table({"label": [1.0, -1.0] * 50, "a": [f"x{i % 3}" for i in range(100)]})
    parquet.write_table(table, tmp_path / "t.parquet")
    memory.pipe({"/t.parquet": (tmp_path / "t.parquet").read_bytes()})
    for name, source in (("file", "t.parquet"), ("url", "memory://t.parquet")):
        vwlite("train", source, "--format", "parquet", "--columns", "label=label", "-f", name, "--quiet")
    assert (tmp_path / "url").read_bytes() == (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("path", ["/none", "/denied"])
def test_urls_that_cannot_be_opened_are_told(vwlite, address, path):
    why = {"/none": "404 Not Found", "/denied": "403 Forbidden"}[path]
    for command in (["train"], ["check"]):
        assert last(vwlite(*command, f"{address}{path}", status=66)) == f"vwlite: {address}{path}: {why}"


def test_a_cut_connection_leaves_the_model_as_it_was(vwlite, write, tmp_path, address):
    write("t.vw", TEXT)
    vwlite("train", "t.vw", "-f", "m", "--quiet")
    before = (tmp_path / "m").read_bytes()
    done = vwlite("train", f"{address}/cut/t.vw", "-i", "m", "-f", "m", "--quiet", status=74)
    assert last(done).startswith(f"vwlite: {address}/cut/t.vw: reading failed: Not enough data")
    assert (tmp_path / "m").read_bytes() == before


def test_without_fsspec_the_extra_is_named(vwlite, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    said = last(vwlite("train", "s3://bucket/t.vw", status=69))
    assert said == "vwlite: s3://bucket/t.vw is a URL; to read it: pip install 'vwlite[remote]'"


def test_files_do_not_need_the_extra(write, tmp_path, cli_env):
    write("t.vw", TEXT)
    code = (
        "import sys; sys.modules['fsspec'] = None; sys.argv = ['vwlite', 'check', 't.vw']; "
        "from vwlite.cli.root import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=cli_env, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout[:5]) == (0, "", "lines")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("train", "t.vw", "-f", "s3://b/m"),
            "-f s3://b/m: only data are read from URLs; write to a local file, and copy that",
        ),
        (
            ("train", "t.vw", "-f", "m", "-i", "s3://b/m"),
            "-i s3://b/m: only data are read from URLs; copy the model to a local file",
        ),
        (
            ("predict", "-i", "s3://b/m", "t.vw"),
            "-i s3://b/m: only data are read from URLs; copy the model to a local file",
        ),
        (
            ("predict", "-i", "m", "t.vw", "-p", "gs://b/p"),
            "-p gs://b/p: only data are read from URLs; write to a local file, and copy that",
        ),
        (
            ("train", "s3://b/t.vw", "-f", "m", "-c"),
            "-c would write the cache beside the data s3://b/t.vw: name a local file by --cache_file",
        ),
        (
            ("vw", "-d", "t.vw", "-f", "s3://b/m"),
            "-f s3://b/m: only data are read from URLs; write to a local file, and copy that",
        ),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_models_and_outputs_are_local(vwlite, write, words, said):
    write("t.vw", TEXT)
    done = vwlite(*words, status=None)
    assert done.status == (1 if words[0] == "vw" else 2)
    assert said in done.stderr + done.stdout


def test_shards_are_parts_of_files(vwlite, address):
    url = f"{address}/t.vw"
    said = last(vwlite("train", url, "-f", "m", "--workers", "2", status=2))
    assert said == f"vwlite: shards are parts of files, which {url} is not: write it to one first"


def test_an_output_does_not_take_the_place_of_a_file_url(vwlite, write, tmp_path):
    write("t.vw", TEXT)
    url = (tmp_path / "t.vw").as_uri()
    done = vwlite("train", url, "-f", "t.vw", status=2)
    assert last(done) == "vwlite: t.vw is the input and would be overwritten: give the output another name"


def test_the_ledger_knows_a_url_by_its_content(vwlite, write, tmp_path, memory):
    write("t.vw", TEXT)
    nightly = ("train", "memory://t.vw", "-i", "m", "-f", "m", "--quiet", "--skip_seen")
    vwlite(*nightly)
    entry = json.loads((tmp_path / "m.ledger").read_text())["models"].popitem()[1][0]
    assert (entry["path"], entry["size"], entry["lines"], entry["settled"]) == ("memory://t.vw", len(TEXT), 3000, False)
    before = (tmp_path / "m").read_bytes()
    vwlite(*nightly)
    vwlite("train", "t.vw", "-i", "m", "-f", "m", "--quiet", "--skip_seen")
    assert (tmp_path / "m").read_bytes() == before
    memory.pipe({"/t.vw": TEXT.replace("x1", "u1").encode()})
    vwlite(*nightly)
    assert (tmp_path / "m").read_bytes() != before


def test_a_cache_serves_a_url_until_it_changes(vwlite, memory):
    train = ("train", "memory://t.vw", "-f", "m", "--cache_file", "c")
    assert "creating" in vwlite(*train).stderr
    assert "using" in vwlite(*train).stderr
    memory.pipe({"/t.vw": TEXT.replace("x1", "u1").encode()})
    assert "is made again" in vwlite(*train).stderr


def test_a_report_names_the_url(vwlite, tmp_path, memory):
    vwlite("train", "memory://t.vw", "-f", "m", "--quiet", "--json", "r.json")
    (data,) = json.loads((tmp_path / "r.json").read_text())["data"]
    assert (data["path"], data["lines"], data["size"]) == ("memory://t.vw", 3000, None)


def test_people_of_a_url_whose_path_has_an_equals_sign(vwlite, write, memory):
    lines = "".join(f"{i % 5} |user u{i % 4} |item i{i % 6}\n" for i in range(60))
    write("ratings", lines)
    memory.pipe({"/day=1/people": b"|user u1\n|user u2\n"})
    vwlite("train", "ratings", "-f", "m", "--dotproduct", "user,item", "--rank", "2", "--names", "--quiet")
    recommend = ("recommend", "-i", "m", "--of", "item", "-n", "2")
    expected = vwlite(*recommend, stdin="|user u1\n|user u2\n").stdout
    stdout = vwlite(*recommend, "--for", "memory://day=1/people").stdout
    assert stdout == expected.replace("<stdin>", "memory://day=1/people") and stdout
