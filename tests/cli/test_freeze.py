"""``vwlite train --freeze``: two stages, side information after latent vectors."""

import zipfile

import pytest

LINES = "".join(
    f"{1 + (3 * u + 5 * i) % 5} |u u{u} |i i{i} |a age{u % 4} |g g{i % 3}\n" for u in range(12) for i in range(9)
)


@pytest.fixture
def stages(tmp_path, run_here):
    (tmp_path / "data.vw").write_text(LINES)

    def train(name, *options, status=0):
        done = run_here("train", "data.vw", "-f", name, "--quiet", "--holdout_off", *options, status=status)
        if status:
            return done.stderr
        with zipfile.ZipFile(tmp_path / name) as archive:
            return {member: archive.read(member) for member in archive.namelist() if member != "header.json"}

    train("latent", "--dotproduct", "u,i", "--rank", "2", "--passes", "3")
    return train


def test_vectors_are_the_same_bytes_after_a_stage_with_interactions(stages):
    first = stages("latent", "--dotproduct", "u,i", "--rank", "2", "--passes", "3")
    second = stages("two", "-i", "latent", "--freeze", "latent", "-q", "ag", "--passes", "2")
    vectors = [name for name in first if name.startswith("latent")]
    assert vectors and all(second[name] == first[name] for name in vectors)
    assert second["weights.w.npy"] != first["weights.w.npy"]
    once = stages("three", "-i", "latent", "--freeze", "latent", "-q", "ag")
    assert once != second and stages("four", "-i", "three", "--no-shuffle") == second


def test_linear_weights_stand(stages):
    first = stages("latent", "--dotproduct", "u,i", "--rank", "2", "--passes", "3")
    second = stages("two", "-i", "latent", "--freeze", "linear")
    assert second["weights.w.npy"] == first["weights.w.npy"]
    assert second["latent0a.v0.npy"] != first["latent0a.v0.npy"]


def test_interactions_are_added_only_where_something_stands(stages):
    assert "contradicts" in stages("two", "-i", "latent", "-q", "ag", status=2)
    assert "contradicts" in stages("two", "-i", "latent", "--freeze", "none", "-q", "ag", status=2)


def test_a_model_without_pairs_has_nothing_to_stand(stages):
    stages("plain")
    assert "--dotproduct" in stages("two", "-i", "plain", "--freeze", "latent", status=2)
    assert "--dotproduct" in stages("two", "--freeze", "latent", status=2)


def test_names_of_nothing_are_told(run_here, stages):
    done = run_here("train", "data.vw", "-i", "latent", "-f", "two", "--freeze", "z", "--holdout_off")
    assert "--freeze z never matched: no line has z" in done.stdout + done.stderr
    refused = run_here("train", "data.vw", "-f", "m", "--dotproduct", "u,i", "--dot-l2", "u=0.1,z=0.2", status=2)
    assert "--dot-l2 z" in refused.stderr
