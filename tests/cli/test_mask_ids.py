"""``vwlite train --mask-ids``, and ``--dot-unseen`` and ``--min-updates`` of predictions."""

import zipfile

import pytest

LINES = "".join(
    f"{1 + (3 * u + 5 * i) % 5} |user u{u} |item i{i} |genre g{i % 3}\n" for u in range(12) for i in range(9)
)
COLD = "3 |user u1 |item new |genre g1\n3 |user u0 |item i0 |genre g0\n"
DYADS = ("--dotproduct", "user,item", "--rank", "3", "--random_seed", "4")
MASKED = (*DYADS, "-q", "user,genre", "--mask-ids", "item=0.4")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.vw").write_text(LINES)
    (tmp_path / "cold.vw").write_text(COLD)
    return tmp_path


def test_passes_in_one_run_or_several_do_not_matter(folder, run_here):
    def train(name, *options):
        run_here("train", "data.vw", "-f", name, "--quiet", *options)
        with zipfile.ZipFile(folder / name) as archive:
            return {member: archive.read(member) for member in archive.namelist() if member != "header.json"}

    whole = train("whole", *MASKED, "--passes", "3", "--holdout_off")
    train("one", *MASKED, "--holdout_off")
    assert train("two", "-i", "one", "--passes", "2", "--holdout_off", "--shuffle", "--random_seed", "4") == whole
    assert train("plain", *DYADS, "-q", "user,genre", "--passes", "3", "--holdout_off") != whole


def test_predictions_leave_nothing_out(folder, run_here):
    run_here("train", "data.vw", "-f", "model", "--quiet", *MASKED, "--passes", "2")
    (folder / "many.vw").write_text(LINES * 2)
    predictions = run_here("predict", "-i", "model", "many.vw").stdout.splitlines()
    half = len(predictions) // 2
    assert predictions[:half] == predictions[half:]


def test_predictions_of_unseen_ids(folder, run_here):
    run_here("train", "data.vw", "-f", "model", "--quiet", *DYADS, "--dot-init", "0.5")

    def predict(*options):
        return list(map(float, run_here("predict", "-i", "model", "cold.vw", *options).stdout.splitlines()))

    usual, start, many = predict(), predict("--dot-unseen", "start"), predict("--min-updates", "1000")
    assert usual[0] != start[0] and usual[1] == start[1]
    assert usual[0] == many[0] and usual[1] != many[1]
    losses = [
        run_here("evaluate", "-i", "model", "cold.vw", "--metric", "mse", *more).stdout
        for more in ((), ("--min-updates", "1000"), ("--dot-unseen", "start"))
    ]
    assert len(set(losses)) == 3
    refused = run_here("predict", "-i", "model", "cold.vw", "--dot-unseen", "start", "--min-updates", "2", status=2)
    assert "contradict" in refused.stderr


def test_other_models_have_no_vectors(folder, run_here):
    run_here("train", "data.vw", "-f", "linear", "--quiet")
    done = run_here("predict", "-i", "linear", "cold.vw", "--min-updates", "2", status=2)
    assert "no option of the model's learner" in done.stderr


@pytest.mark.parametrize("mask", ["item=1", "item=-1", "genre=0.1", "item"])
def test_wrong_masks_are_usage_errors(folder, run_here, mask):
    done = run_here("train", "data.vw", "-f", "model", *DYADS, "--mask-ids", mask, status=2)
    assert "--mask-ids" in done.stderr
    assert not (folder / "model").exists()


def test_shards_refuse_them(folder, run_here):
    done = run_here("train", "data.vw", "-f", "m", "--workers", "2", "-q", "ui", "--mask-ids", "i=0.1", status=2)
    assert "--mask-ids" in done.stderr
