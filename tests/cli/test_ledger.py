"""What a model has learned is known the next time."""

import bz2
import gzip
import json

import pytest

from vwlite.training import ledger
from vwlite.training.ledger import samples_of

DAYS = {f"{day}.vw": "".join(f"{n % 2} |a x{n % 3} {day}\n" for n in range(20)) for day in ("mon", "tue")}
GO_ON = ("-i", "model", "-f", "model")


@pytest.fixture(autouse=True)
def days(write):
    for name, text in DAYS.items():
        write(name, text)


def known(path="model"):
    return [(entry["path"], entry["lines"]) for entry in ledger.read(str(path))]


def test_learning_a_file_again_is_said(vwlite):
    assert "learned before" not in vwlite("train", "mon.vw", "-f", "model").stderr
    done = vwlite("train", "mon.vw", "tue.vw", *GO_ON)
    assert "vwlite: mon.vw was learned before (20 lines); --skip-seen would skip it\n" in done.stderr
    assert "tue.vw was" not in done.stderr
    assert known() == [("mon.vw", 20), ("mon.vw", 20), ("tue.vw", 20)]


def test_a_quiet_run_warns_of_what_it_learns_again(vwlite, tmp_path, write):
    """A nightly job with a mistake does so; what it skips as it should is no warning."""
    vwlite("train", "mon.vw", "-f", "model", "--quiet")
    again = "vwlite: mon.vw was learned before (20 lines); --skip-seen would skip it\n"
    assert vwlite("train", "mon.vw", *GO_ON, "--quiet").stderr == again
    assert vwlite("train", "mon.vw", "tue.vw", *GO_ON, "--skip-seen", "--quiet").stderr == ""
    write("tue.vw", DAYS["tue.vw"] + "1 |a more\n")
    assert "all of it is learned again" in vwlite("train", "tue.vw", *GO_ON, "--skip-seen", "--quiet").stderr
    (tmp_path / "model.ledger").unlink()
    stderr = vwlite("train", "tue.vw", *GO_ON, "--skip-seen", "--quiet").stderr
    assert stderr == "vwlite: there is no model.ledger, which records what model has learned: no file is skipped\n"
    shards = ("--shards", 2, "--workers", 1, "--quiet")
    assert vwlite("train", "mon.vw", *GO_ON, *shards).stderr == ""
    assert "--skip-seen would skip it" in vwlite("train", "mon.vw", *GO_ON, *shards).stderr


def test_skip_seen_skips_it(vwlite, tmp_path, write):
    vwlite("train", "mon.vw", "-f", "model")
    write("moved.vw", DAYS["mon.vw"])
    done = vwlite("train", "mon.vw", "moved.vw", "tue.vw", *GO_ON, "--skip-seen")
    assert "mon.vw was learned before (20 lines): skipped\n" in done.stderr
    assert "moved.vw was learned before as mon.vw (20 lines): skipped\n" in done.stderr
    assert known() == [("mon.vw", 20), ("tue.vw", 20)]
    vwlite("train", "mon.vw", "-f", "other")
    vwlite("train", "tue.vw", "-i", "other", "-f", "other")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "other").read_bytes()


def test_nothing_left_changes_nothing(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-f", "model")
    before = (tmp_path / "model").read_bytes()
    done = vwlite("train", "mon.vw", *GO_ON, "--skip-seen", "--json", "-")
    assert json.loads(done.stdout)["examples"] == 0
    vwlite("train", "mon.vw", "-i", "model", "-f", "copy", "--skip-seen")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "copy").read_bytes() == before
    again = vwlite("train", "mon.vw", "-i", "copy", "-f", "copy", "--skip-seen")
    assert "mon.vw" in again.stderr and "does not know" not in again.stderr
    assert (tmp_path / "copy").read_bytes() == before


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_every_byte_of_a_file_counts(vwlite, write, pack):
    """Samples of it are not enough: no label is left to chance."""
    lines = [b"%d |a x%d and more of the same\n" % (n % 2, n % 1000) for n in range(20_000)]
    write("big.vw", b"".join(lines))
    vwlite("train", "big.vw", "-f", "model")
    assert "skipped" in vwlite("train", write("moved", pack(b"".join(lines))), *GO_ON, "--skip-seen").stderr
    lines[11_234] = lines[11_234].replace(b"0 |a", b"1 |a")
    done = vwlite("train", write("big.vw", pack(b"".join(lines))), *GO_ON, "--skip-seen")
    assert "learned before" not in done.stderr and "number of examples = 20000" in done.stderr


@pytest.mark.parametrize("name", ["mon.gz", "moved.vw"])
def test_the_same_text_is_known_under_any_name_and_compression(vwlite, write, name):
    packed = gzip.compress(DAYS["mon.vw"].encode())
    vwlite("train", "mon.vw", "-f", "model")
    done = vwlite("train", write(name, packed), *GO_ON, "--skip-seen")
    assert f"{name} was learned before as mon.vw (20 lines): skipped\n" in done.stderr
    vwlite("train", name, "-f", "model")
    assert (
        f"mon.vw was learned before as {name} (20 lines): skipped\n"
        in vwlite("train", "mon.vw", *GO_ON, "--skip-seen").stderr
    )


@pytest.mark.parametrize("size", [20, 20_000])
def test_a_file_that_grew_is_said(vwlite, write, size):
    lines = [f"{n % 2} |a x{n % 7}\n" for n in range(size)]
    write("log.vw", "".join(lines))
    vwlite("train", "log.vw", "-f", "model")
    write("log.vw", "".join([*lines, "1 |a new\n"]))
    done = vwlite("train", "log.vw", *GO_ON, "--skip-seen")
    assert f"log.vw has grown since it was learned ({size} lines): all of it is learned again; give what" in done.stderr
    assert known() == [("log.vw", size), ("log.vw", size + 1)]
    assert (
        f"log.vw was learned before ({size + 1} lines): skipped"
        in vwlite("train", "log.vw", *GO_ON, "--skip-seen").stderr
    )


def test_a_file_that_settled_is_not_read_to_be_skipped(vwlite, monkeypatch):
    monkeypatch.setattr("vwlite.data.blocks.FINE", -1)
    vwlite("train", "mon.vw", "-f", "model")
    monkeypatch.setattr("vwlite.training.ledger.same_text", None)
    assert "mon.vw was learned before (20 lines): skipped\n" in vwlite("train", "mon.vw", *GO_ON, "--skip-seen").stderr


def test_a_model_that_went_on_without_its_ledger_is_said(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-f", "model")
    assert "ledger" not in vwlite("train", "tue.vw", "-i", "model", "-f", "other").stderr
    (tmp_path / "other").replace(tmp_path / "model")
    done = vwlite("train", "mon.vw", *GO_ON, "--skip-seen")
    doubt = "model.ledger does not know model, which went on without it or is another model"
    assert f"vwlite: {doubt}: no file is skipped\n" in done.stderr and "number of examples = 20" in done.stderr
    (tmp_path / "model.ledger").unlink()
    assert (
        "there is no model.ledger, which records what model has learned: no file"
        in vwlite("train", "mon.vw", *GO_ON, "--skip-seen").stderr
    )


def test_one_command_line_for_every_night(vwlite, write, tmp_path):
    night = ("train", "-i", "model", "-f", "model", "--skip-seen", "-q", "aa", "-l", 0.3)
    assert "there is no model yet: training starts from the beginning\n" in vwlite(*night, "mon.vw").stderr
    assert "mon.vw was learned before (20 lines): skipped\n" in vwlite(*night, "mon.vw").stderr
    assert "number of examples = 20" in vwlite(*night, "mon.vw", "tue.vw").stderr
    assert known() == [("mon.vw", 20), ("tue.vw", 20)]
    vwlite("train", "mon.vw", "-f", "other", *night[6:])
    vwlite("train", "tue.vw", "-i", "other", "-f", "other", *night[6:])
    assert (tmp_path / "model").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_wrong_name_is_not_the_first_night(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-i", "modle", "-f", "model", "--skip-seen", status=66)
    vwlite("train", "mon.vw", *GO_ON, status=66)
    (tmp_path / "model").symlink_to("elsewhere")
    vwlite("train", "mon.vw", *GO_ON, "--skip-seen", status=66)


def test_ledgers_of_format_1_are_understood(vwlite, write, tmp_path):
    big = "".join(f"{n % 2} |a x{n % 1000} and more of the same\n" for n in range(40_000))
    write("big.vw", big)
    vwlite("train", "mon.vw", "big.vw", "-f", "model")
    entries = [
        {"path": name, "size": len(text), "digest": samples_of(name, len(text)), "whole": True, "lines": lines}
        for name, text, lines in (("mon.vw", DAYS["mon.vw"], 20), ("big.vw", big, 40_000))
    ]
    write("model.ledger", json.dumps({"format": 1, "models": {ledger.model_digest("model"): entries}}))
    stderr = vwlite("train", "mon.vw", "big.vw", "tue.vw", *GO_ON, "--skip-seen").stderr
    assert "mon.vw was learned before (20 lines): skipped\n" in stderr
    assert "(40000 lines), as far as samples in the ledger of an older version tell: skipped\n" in stderr
    assert known() == [("mon.vw", 20), ("big.vw", 40_000), ("tue.vw", 20)]
    assert json.loads((tmp_path / "model.ledger").read_text())["format"] == 2


def test_a_changed_file_is_another(vwlite, write):
    vwlite("train", "mon.vw", "-f", "model")
    write("mon.vw", DAYS["mon.vw"].replace("x1", "x9"))
    assert "learned before" not in vwlite("train", "mon.vw", *GO_ON, "--skip-seen").stderr


def test_in_part_is_not_enough_to_be_skipped(vwlite):
    vwlite("train", "mon.vw", "-f", "model", "--examples", 5)
    done = vwlite("train", "mon.vw", *GO_ON, "--skip-seen")
    assert "mon.vw was learned before, in part (5 lines): all of it is learned\n" in done.stderr
    assert known() == [("mon.vw", 5), ("mon.vw", 20)]


def test_the_model_does_not_depend_on_where_its_examples_came_from(vwlite, write, tmp_path):
    write("mon.gz", gzip.compress(DAYS["mon.vw"].encode()))
    vwlite("train", "mon.vw", "-f", "file")
    vwlite("train", "mon.gz", "-f", "packed")
    vwlite("train", "-f", "piped", stdin=DAYS["mon.vw"])
    assert (tmp_path / "file").read_bytes() == (tmp_path / "packed").read_bytes() == (tmp_path / "piped").read_bytes()
    assert known(tmp_path / "packed") == [("mon.gz", 20)]
    assert known(tmp_path / "piped") == [] and not (tmp_path / "piped.ledger").exists()


def test_caches_and_passes_count_lines_once(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-f", "model", "-c", "--passes", 3)
    vwlite("train", "mon.vw", "-f", "again", "-c", "--passes", 3)
    assert known() == known(tmp_path / "again") == [("mon.vw", 20)]


def test_a_ledger_is_believed_of_its_own_model_only(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-f", "model")
    vwlite("train", "tue.vw", "-f", "other")
    (tmp_path / "other").replace(tmp_path / "model")
    assert known() == []
    assert "learned before" not in vwlite("train", "mon.vw", *GO_ON).stderr


def test_the_ledger_of_the_old_model_holds_until_the_new_one_is_in_place(vwlite, tmp_path):
    vwlite("train", "mon.vw", "-f", "model")
    before = (tmp_path / "model").read_bytes()
    vwlite("train", "tue.vw", *GO_ON)
    assert known() == [("mon.vw", 20), ("tue.vw", 20)]
    (tmp_path / "model").write_bytes(before)  # as if the machine had died between the two
    assert known() == [("mon.vw", 20)]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 1}', '{"format": 1, "models": {"a": [1]}}', "\xff"])
def test_a_damaged_ledger_is_refused(text, vwlite, write):
    vwlite("train", "mon.vw", "-f", "model")
    write("model.ledger", text.encode("latin-1"))
    assert "model.ledger is damaged: remove it" in vwlite("train", "tue.vw", *GO_ON, status=76).stderr
    vwlite("train", "tue.vw", "-f", "model")
    assert known() == [("tue.vw", 20)]


def test_another_format_is_refused(vwlite, write):
    vwlite("train", "mon.vw", "-f", "model")
    write("model.ledger", '{"format": 3, "models": {}}')
    assert "another version" in vwlite("train", "tue.vw", *GO_ON, status=76).stderr


def test_skip_seen_needs_a_model_to_go_on_with(vwlite):
    assert "--skip-seen does nothing without -i" in vwlite("train", "mon.vw", "-f", "m", "--skip-seen", status=2).stderr


def test_a_resumed_run_skips_what_the_stopped_one_skipped(vwlite, tmp_path, monkeypatch):
    from vwlite.cli.signals import Interrupts
    from vwlite.interrupts import Interrupted

    vwlite("train", "mon.vw", "-f", "before")
    for name, stops in (("model", True), ("other", False)):
        (tmp_path / name).write_bytes((tmp_path / "before").read_bytes())
        digest = ledger.model_digest(str(tmp_path / "before"))
        entries = ledger.read(str(tmp_path / "before"))
        (tmp_path / f"{name}.ledger").write_text(json.dumps({"format": 1, "models": {digest: entries}}))
        options = ("mon.vw", "tue.vw", "-i", name, "-f", name, "--skip-seen", "--passes", 3)
        if stops:
            left = iter(range(3))

            def check(self, left=left):
                if next(left, None) is None:
                    raise Interrupted(15)

            with monkeypatch.context() as patch:
                patch.setattr(Interrupts, "check", check)
                vwlite("train", *options, "--block-size", 200, "--threads", 1, status=143)
        vwlite("train", *options, *(("--resume",) if stops else ()))
    assert (tmp_path / "model").read_bytes() == (tmp_path / "other").read_bytes()
    assert known(tmp_path / "model") == known(tmp_path / "other") == [("mon.vw", 20), ("tue.vw", 20)]
