"""The command line among other processes: pipes, compression, odd text, signals, closed readers."""

import bz2
import errno
import gzip
import json
import lzma
import os
import re
import resource
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

DATA = "1 'one |user ann |item tea:2\n-1 'two |user bob |item tea\n1 |user ann |item cup\n" * 20
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture(autouse=True)
def data(write):
    return write("data.vw", DATA)


@pytest.fixture
def model(vwlite):
    vwlite("train", "data.vw", "-f", "model", "--quiet")
    return "model"


def hear_signals():
    """A test run in the background passes on that it ignores interrupts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path, cli_env, commands):
    """Starts ``vwlite ARGUMENTS`` with pipes on all sides, in a Python of its own where it ``begins`` one."""
    started = []

    def run(*arguments, begins=False, **options):
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        command = [*([sys.executable, "-m", "vwlite"] if begins else [commands / "vwlite"]), *arguments]
        settings = {"cwd": tmp_path, "env": cli_env, "preexec_fn": hear_signals, **pipes, **options}
        process = subprocess.Popen(command, **settings)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()


@pytest.mark.parametrize("arguments", [[], ["-"], ["-d", "-"]])
def test_standard_input_is_learned_as_its_file(arguments, run_cli, vwlite, tmp_path):
    done = run_cli("train", *arguments, "-f", "piped", stdin=DATA)
    assert "Reading datafile = stdin\n" in done.stderr and done.stdout == ""
    vwlite("train", "data.vw", "-f", "model", "--quiet")
    assert (tmp_path / "piped").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("kind", PACK)
def test_compressed_standard_input(kind, run_cli, model):
    plain = run_cli("predict", "-i", "model", "data.vw").stdout
    assert run_cli("predict", "-i", "model", stdin=PACK[kind](DATA.encode())).stdout == plain


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["right", "plain.vw", "wrong.zst"])
def test_compression_is_known_by_content(kind, name, vwlite, write, model):
    name = f"data.vw.{kind}" if name == "right" else name
    write(name, PACK[kind](DATA.encode()))
    assert vwlite("predict", "-i", "model", name) == vwlite("predict", "-i", "model", "data.vw")


def test_plain_text_called_gz(vwlite, write, model):
    write("data.gz", DATA)
    assert vwlite("predict", "-i", "model", "data.gz") == vwlite("predict", "-i", "model", "data.vw")


def test_several_files_of_every_kind(vwlite, write, tmp_path):
    lines = DATA.splitlines(keepends=True)
    parts = ["".join(lines[i::3]) for i in range(3)]
    names = [write(f"part.{kind}", PACK[kind](part.encode())) for kind, part in zip(PACK, parts, strict=True)]
    write("whole.vw", "".join(parts))
    vwlite("train", *names, "-f", "parts", "--quiet")
    vwlite("train", "whole.vw", "-f", "whole", "--quiet")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("piped", [False, True])
def test_truncated_compression_leaves_no_model(kind, piped, run_cli, write, names_in):
    cut = PACK[kind](DATA.encode())[:-7]
    name, shown = ("-", "<stdin>") if piped else (write("cut", cut), "cut")
    before = names_in()
    done = run_cli("train", name, "-f", "model", "--quiet", stdin=cut if piped else b"", status=74)
    long = {"gz": "gzip", "bz2": "bzip2", "xz": "xz"}[kind]
    assert done.stderr == f"vwlite: {shown}: the {long} data ends too early; the file is truncated\n"
    assert names_in() == before


def test_truncated_input_leaves_no_predictions(run_cli, write, model, tmp_path):
    write("cut", gzip.compress(DATA.encode())[:-7])
    run_cli("predict", "-i", "model", "cut", "-p", "p", status=74)
    assert not (tmp_path / "p").exists()


def test_zstd_without_the_extra_names_it(vwlite, write, monkeypatch):
    for name in ("compression.zstd", "compression", "backports.zstd", "backports"):
        monkeypatch.setitem(sys.modules, name, None)
    done = vwlite("train", write("data.zst", b"\x28\xb5\x2f\xfd" + bytes(20)), "--quiet", status=69)
    assert done.stderr == "vwlite: data.zst is zstd data; to read it: pip install 'vwlite[io]'\n"


def test_a_reader_that_goes_away_ends_the_run_quietly(start, model, vwlite):
    """``vwlite train -p - -f new | head -1``: the model is written all the same."""
    process = start("train", "data.vw", "-", "-f", "new", "-p", "-", "--quiet")
    process.stdin.write(b"1 |a x\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"0 one\n"
    process.stdout.close()
    process.stdin.write(b"1 |a x\n" * 10)
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    assert json.loads(vwlite("inspect", "new", "--json", "-").stdout)["examples"] == 71


def test_predictions_come_as_soon_as_their_lines(start, model):
    process = start("predict", "-i", "model", "-")
    for line in DATA.splitlines(keepends=True)[:3]:
        process.stdin.write(line.encode())
        process.stdin.flush()
        assert float(process.stdout.readline().split()[0]) < 2
    process.stdin.close()
    assert process.wait() == 0


def test_examples_do_not_wait_for_the_end_of_a_pipe(start, model):
    process = start("predict", "-i", "model", "-", "--examples", "2")
    process.stdin.write(DATA.encode())
    process.stdin.flush()
    assert len(process.stdout.readlines()) == 2
    assert process.wait() == 0


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
    ],
)
def test_signals_leave_a_checkpoint_and_no_model(number, status, said, start, names_in, run_cli, vwlite, tmp_path):
    process = start("train", "-f", "model", "-P", "1", begins=True)
    process.stdin.write(b"1 |a x\n")
    process.stdin.flush()
    assert any(line.startswith(b"1.000000") for line in iter(process.stderr.readline, b""))
    process.send_signal(number)
    message = "model.ckpt keeps what was learned, --resume goes on with it"
    assert process.stderr.read().decode().splitlines()[-1] == f"vwlite: {said}; {message}"
    assert process.wait() == status
    assert names_in() == ["data.vw", "model.ckpt"]
    run_cli("train", "-f", "model", "--resume", stdin="1 |a x\n-1 |a y\n")
    vwlite("train", "-f", "other", stdin="1 |a x\n-1 |a y\n")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "other").read_bytes()
    assert names_in() == ["data.vw", "model", "other"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_before_anything_is_learned_leave_nothing(number, status, start, names_in):
    process = start("train", "-f", "model", begins=True)
    assert any(line.startswith(b"Enabled") for line in iter(process.stderr.readline, b""))
    process.send_signal(number)
    assert process.wait() == status
    assert names_in() == ["data.vw"]


def test_a_full_disk_is_an_error(start, model):
    with open("/dev/full", "wb") as full:
        process = start("predict", "-i", "model", "data.vw", stdout=full)
    assert process.communicate()[1] == b"vwlite: cannot write predictions to -: No space left on device\n"
    assert process.returncode == 73


ODD = {  # text: examples, and plain text that means the same
    "one line": ("1 |a x\n", 1, "1 |a x\n"),
    "no newline": ("1 |a x\n-1 |a y", 2, "1 |a x\n-1 |a y\n"),
    "crlf": ("1 |a x\r\n-1 |a y\r\n", 2, "1 |a x\n-1 |a y\n"),
    "crlf, no newline": ("1 |a x\r\n-1 |a y\r", 2, "1 |a x\n-1 |a y\n"),
    "bom": ("\ufeff1 |a x\n-1 |a y\n", 2, "1 |a x\n-1 |a y\n"),
    "spaces": ("  1   |a   x  \n-1 |a y \n", 2, "1 |a x\n-1 |a y\n"),
    "tabs": ("1 |a\tx\n-1 |a\t\ty\t\n", 2, "1 |a x\n-1 |a y\n"),
    "blank lines": ("\n\n1 |a x\n\n-1 |a y\n\n", 2, "1 |a x\n-1 |a y\n"),
    "unicode": ("1 |größe straße:2 日本\n", 1, "1 |größe straße:2.0 日本\n"),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_text_is_read_as_plain_text(what, vwlite, write, weights):
    text, examples, plain = ODD[what]
    options = ("--max-bad-ratio", "0", "--quiet", "--json", "-")
    done = vwlite("train", write("odd.vw", text), "-f", "odd", *options)
    assert json.loads(done.stdout)["examples"] == examples
    vwlite("train", write("plain.vw", plain), "-f", "plain", "--quiet")
    assert weights("odd") == weights("plain")


TOUCHES = "; a word that touches the bar is a tag: write '1 |a', not '1|a'"


TAGGED = {"": "", "\n\n": "", "|a x\n": "", "|a x\n1|a x\n": TOUCHES, "'r1 |a x\n": ""}


@pytest.mark.parametrize(("text", "hint"), TAGGED.items())
def test_nothing_to_learn_from(text, hint, vwlite, write, model, weights, names_in):
    """No model takes the place of a good one, but a model may go on with nothing new."""
    before, learned = names_in(), weights(model)
    done = vwlite("train", "-f", model, "--quiet", stdin=text, status=65)
    message = f"there is no labelled example to learn from in <stdin>; model is not written{hint}"
    assert (done.stdout, done.stderr) == ("", f"vwlite: {message}\n")
    assert (names_in(), weights(model)) == (before, learned)
    vwlite("train", "-i", model, "-f", "more", "--quiet", stdin=text)
    assert weights("more") == learned


def test_a_line_of_five_megabytes(vwlite, write, weights):
    words = "".join(f" word{n}" for n in range(500_000))
    write("long.vw", f"-1 |a y\n1 |w{words}\n1 |a x\n")
    done = vwlite("train", "long.vw", "-f", "model", "--quiet", "--json", "-")
    report = json.loads(done.stdout)
    assert (report["examples"], report["features"]) == (3, 500_000 + 5)
    assert len(weights("model")) > 200_000
    short = vwlite("predict", "-i", "model", write("short.vw", "|a x\n")).stdout
    assert -1 <= float(short) <= 1


def test_a_line_without_end_is_refused_before_it_fills_the_memory(vwlite, write, monkeypatch, names_in):
    monkeypatch.setattr("vwlite.data.block_parser.LONGEST_LINE", 1000)
    write("long.vw", b"1 |a x\n" + b"7" * 1001 + b"\n")
    done = vwlite("train", "long.vw", "-f", "model", "--block-size", 100, "--quiet", status=65)
    assert done.stderr == "vwlite: long.vw: the line at byte 7 has more than 1000 bytes\n"
    assert "model" not in names_in()
    vwlite("train", write("long.vw", b"1 |a " + b"x" * 995 + b"\n"), "--block-size", 100, "-f", "model")


@pytest.mark.parametrize("learn", [
    "train -f m", "l1 -f m --model multinomial", "l1 -f m --model crf", "cluster -f m -k 2", "pca -f m --dim 1",
])
def test_predictions_that_nobody_reads_end_with_their_reader(learn, start, vwlite):
    """``yes '1 |a x y' | vwlite predict -i model | head -1`` ends."""
    lines = b"1 |a x y\n2 |a y z\n\n"
    command, *options = learn.split()
    vwlite(command, *options, "--quiet", stdin=lines * 20)
    process = start("project" if command == "pca" else "predict", "-i", "m")
    with pytest.raises(BrokenPipeError):
        for part in range(3000):
            process.stdin.write(lines * 500)
            process.stdin.flush()
            if part == 0:
                process.stdout.close()
    with suppress(BrokenPipeError):  # of what is still buffered
        process.stdin.close()
    assert process.wait() == 141


@pytest.mark.parametrize("arguments", ["inspect model", "inspect model --json -", "evaluate -i model data.vw"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_was_never_there(arguments, unbuffered, start, model, cli_env):
    reader, writer = os.pipe()
    os.close(reader)
    env = {**cli_env, "PYTHONUNBUFFERED": unbuffered}
    process = start(*arguments.split(), begins=bool(unbuffered), stdout=writer, env=env)
    os.close(writer)
    lines = process.communicate()[1].splitlines()
    assert [line for line in lines if not line.startswith(b"vwlite: note: ")] == []
    assert process.returncode == 141


ON_STDOUT = {  # commands, and the exit status when standard output is closed or full
    "predict -i model data.vw": 73,
    "train data.vw --json -": 73,
    "check data.vw": 73,
    "evaluate -i model data.vw": 73,
    "inspect model": 73,
    "explain -i model data.vw": 73,
    "convert conll words": 73,
    "train --help": 73,
    "vw -d data.vw -p -": 1,
    "vw -d data.vw --nosuch": 1,
}


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [*((command, "") for command in ON_STDOUT), *((command, "1") for command in (*ON_STDOUT,)[::4])],
)
def test_lost_output_is_no_success(arguments, unbuffered, model, write, tmp_path, cli_env, commands):
    write("words", "a N B\nb V O\n\n")
    env = {**cli_env, "PYTHONUNBUFFERED": unbuffered}
    status = ON_STDOUT[arguments]
    own = f"{sys.executable} -m vwlite"
    for program, redirection in ((own, ">&-"), (own if unbuffered else commands / "vwlite", ">/dev/full")):
        command = f"{program} {arguments} {redirection}"
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr
        assert status == 1 or re.search(r"standard output|predictions to -", done.stderr)


def test_a_full_disk_is_not_told_as_standard_output(vwlite, write, monkeypatch):
    def refuse(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device", "tmp")

    monkeypatch.setattr("vwlite.cli.runs.tune.TemporaryFolder", refuse)
    arguments = ("--test", "data.vw", "--vary", "l 1|2", "--trials", "2", "--passes", "1")
    done = vwlite("tune", write("data.vw", "3 |a x\n-1 |a y\n" * 9), *arguments, status=73)
    assert done.stderr == "vwlite: cannot write tmp: No space left on device\n"


def test_no_folder_for_temporary_files_is_an_output_that_cannot_be_written(vwlite, write, monkeypatch):
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/proc"])
    monkeypatch.setattr("tempfile.tempdir", None)
    typed = ("tune", write("data.vw", "3 |a x\n-1 |a y\n" * 9), "--test", "data.vw", "--vary", "l 1|2")
    stderr = vwlite(*typed, status=73).stderr
    assert stderr == "vwlite: cannot write a temporary file: No usable temporary directory found in ['/proc']\n"


@pytest.mark.parametrize(
    ("arguments", "status", "sizes"),
    [
        ("train data.vw -f made", 73, (0, 100, 4095, 4096)), ("predict -i model data.vw", 0, (0, 4095)),
        ("train data.vw --workers 1 -f made", 73, (0, 4095)), ("train data.vw --shard 1/1 -f made", 73, (0, 4095)),
        ("merge model model -f made", 73, (100, 4096)), ("inspect model", 0, (0,)),
    ],
)  # fmt: skip
def test_where_no_file_may_get_longer(arguments, status, sizes, model, tmp_path, cli_env):
    """The limit is that of ``ulimit -f``, which counts files in memory as well."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-m", "vwlite", *arguments.split()]
    for size in sizes:
        done = subprocess.run(command, cwd=tmp_path, env=cli_env, preexec_fn=limit, capture_output=True, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, (size, done)
        assert not (tmp_path / "made").exists()


ENDLESS = (
    "train data.vw --config {}", "convert conll {}", "convert conll words --template {}", "lm train {} -f made",
    "aso learn data.vw --aux freq --problems {} -f made", "recommend -i latent --of b --for-file {}",
    "report {} --text", "check {}", "cut {} -k 2", "train data.vw --landmarks rbf:{} -f made",
)  # fmt: skip


@pytest.mark.parametrize("name", ["/dev/zero", "long"])
@pytest.mark.parametrize("arguments", ENDLESS)
def test_no_file_is_read_without_end(arguments, name, vwlite, write, monkeypatch, model):
    limits = ("data.block_parser.LONGEST_LINE", "data.dataset.LONGEST_LINE")
    for limit in (*limits, "data.input_stream.LARGEST", "reporting.runs.LARGEST"):
        monkeypatch.setattr(f"vwlite.{limit}", 1 << 20)
    write("words", "a N B\nb V O\n\n")
    write("long", b"x" * ((2 << 20) + 1))
    vwlite("train", write("pairs", "1 |a x |b y\n" * 9), "--dotproduct", "ab", "-f", "latent", "--quiet")
    if "--config" in arguments and name == "long":
        monkeypatch.setattr("vwlite.cli.settings.LARGEST", 1 << 20)
    done = vwlite(*arguments.format(name).split(), status=2 if "--config" in arguments else 65)
    assert name in done.stderr and re.search("more than [0-9]+ bytes|too large", done.stderr)


def test_closed_standard_output(model, tmp_path, cli_env):
    command = f"{sys.executable} -m vwlite predict -i model data.vw >&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=cli_env, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (73, b"vwlite: standard output is closed\n")


@pytest.mark.parametrize("arguments", ["train data.vw", "l1 data.vw", "pca data.vw --dim 2", "merge model model"])
def test_a_model_goes_to_standard_output_whatever_that_is(arguments, model, start, vwlite, tmp_path):
    vwlite(*arguments.split(), "-f", "made")
    content = (tmp_path / "made").read_bytes()
    piped, said = start(*arguments.split(), "-f", "/dev/stdout").communicate()
    assert b"cannot write" not in said and piped == content
    (tmp_path / "out").write_bytes(b"before ")
    with open(tmp_path / "out", "ab") as out:
        assert start(*arguments.split(), "-f", "/dev/stdout", stdout=out).wait() == 0
    assert (tmp_path / "out").read_bytes() == b"before " + content
