"""What a model has learned is known the next time."""

import gzip
import json

import pytest

from vwlite import ledger

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
    assert vwlite("train", "mon.vw", *GO_ON, "--quiet").stderr == ""


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


def test_a_changed_file_is_another(vwlite, write):
    vwlite("train", "mon.vw", "-f", "model")
    write("mon.vw", DAYS["mon.vw"].replace("x1", "x9"))
    assert "learned before" not in vwlite("train", "mon.vw", *GO_ON, "--skip-seen").stderr


def test_in_part_is_not_enough_to_be_skipped(vwlite):
    vwlite("train", "mon.vw", "-f", "model", "--examples", 5)
    done = vwlite("train", "mon.vw", *GO_ON, "--skip-seen")
    assert "mon.vw was learned before, in part (5 lines)\n" in done.stderr
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


def test_what_stood_there_stays_known_until_the_model_has_its_name(vwlite, tmp_path):
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
    write("model.ledger", '{"format": 2, "models": {}}')
    assert "another version" in vwlite("train", "tue.vw", *GO_ON, status=76).stderr


def test_skip_seen_needs_a_model_to_go_on_with(vwlite):
    assert "--skip_seen does nothing without -i" in vwlite("train", "mon.vw", "-f", "m", "--skip-seen", status=2).stderr


def test_a_resumed_run_skips_what_the_stopped_one_skipped(vwlite, tmp_path, monkeypatch):
    from vwlite.interrupts import Interrupted, Interrupts

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
