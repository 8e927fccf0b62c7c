"""A cache keeps no secret of the text it was made from."""

import json

import pytest

GOOD = "".join(f"{n % 2} |w a{n % 7}\n" for n in range(100))
BAD = "1 no bar here\n" * 5


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data.vw").write_text(GOOD + BAD)
    return tmp_path / "data.vw"


def test_too_many_malformed_lines_stay_too_many(run_here, data, tmp_path):
    run_here("train", data, "-c", "-f", "model", "--max-bad-ratio", 1)
    assert (tmp_path / "data.vw.cache").exists()
    done = run_here("train", data, "-c", "-f", "other", status=65)
    assert "5 of 105 lines are malformed" in done.stderr
    assert not (tmp_path / "other").exists()


def test_strict_refuses_a_cache_of_malformed_lines(run_here, data):
    run_here("train", data, "-c", "-f", "model", "--max-bad-ratio", 1)
    assert "5 of 105" in run_here("train", data, "-c", "-f", "model", "--strict", status=65).stderr


def test_bad_lines_are_read_from_the_text_again(run_here, data, tmp_path):
    for _ in range(2):
        run_here("train", data, "-c", "-f", "model", "--max-bad-ratio", 1, "--bad-lines", "bad")
        assert (tmp_path / "bad").read_text() == BAD
        (tmp_path / "bad").unlink()


def test_json_counts_them_either_way(run_here, data):
    command = ("train", data, "-c", "-f", "model", "--max-bad-ratio", 1, "--json", "-")
    first, second = (json.loads(run_here(*command).stdout) for _ in range(2))
    counted = ("lines", "bad_lines", "examples", "weight", "average_loss", "history")
    assert {name: first.get(name) for name in counted} == {name: second.get(name) for name in counted}
    assert first["bad_lines"] == 5 and first["lines"] == 105


def test_the_table_learns_how_long_the_cache_is(run_here, data, tmp_path, monkeypatch):
    """As for a text, so that a short one does not fill a large table's memory."""
    sizes = []
    monkeypatch.setattr("vwlite.storage.weight_table.PageToucher.expect", lambda pages, size: sizes.append(size))
    for _ in range(2):
        run_here("train", data, "-b", 20, "-c", "-f", "model", "--max-bad-ratio", 1)
    assert sizes == [data.stat().st_size, (tmp_path / "data.vw.cache").stat().st_size]


def test_standard_input_is_never_replaced_by_an_old_cache(run_here, tmp_path):
    run_here("train", "-c", "-f", "one", stdin="1 |w a\n")
    run_here("train", "-c", "-f", "two", stdin="0 |w b\n")
    run_here("train", "-f", "plain", stdin="0 |w b\n")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "plain").read_bytes()


def test_labels_changed_within_a_tick_of_the_clock(run_here, data, tmp_path, monkeypatch):
    command = ("train", data, "--cache_file", "c", "--max-bad-ratio", 1, "-f")
    monkeypatch.setattr("vwlite.data.blocks.FINE", 10**18)  # ns: nothing settles
    monkeypatch.setattr("vwlite.data.cache.same_file", lambda then, now: True)  # as far as times tell
    run_here(*command, "model")
    assert "made again" not in run_here(*command, "model").stderr
    data.write_text(data.read_text().replace("1 |w a3", "0 |w a3"))
    assert "was made from other data or options and is made again" in run_here(*command, "cached").stderr
    run_here(*command[:2], *command[4:], "plain")
    assert (tmp_path / "cached").read_bytes() == (tmp_path / "plain").read_bytes() != (tmp_path / "model").read_bytes()


def test_quiet_refusals_show_the_first_bad_line(run_here, data):
    done = run_here("train", data, "-f", "model", "--quiet", status=65)
    assert f"{data}:101:" in done.stderr and "no '|'" in done.stderr


def test_a_temporary_cache_has_no_name(run_cli, data, tmp_path):
    (tmp_path / "tmp").mkdir()
    run_cli("train", data, "--passes", 2, "--max-bad-ratio", 1, "-f", "model", TMPDIR=str(tmp_path / "tmp"))
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("command", ["train", "predict"])
def test_examples_end_before_what_follows_them(command, run_here, tmp_path):
    run_here("train", "-f", "model", stdin=GOOD)
    model = "-f" if command == "train" else "-i"
    done = run_here(command, "--examples", 2, "--strict", model, "model", stdin="1 |a b\n0 |a c\n" + BAD)
    assert done.stdout.count("\n") == (2 if command == "predict" else 0)


def test_examples_must_not_be_negative(run_here):
    assert "--examples takes 0 or more" in run_here("train", "--examples", -1, "-f", "m", status=2).stderr
