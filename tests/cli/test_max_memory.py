"""``--max-memory``: what would take more is refused before it is allocated, with what it needs and what is allowed."""

import pytest

LINES = "1 |a x y\n-1 |b z\n"
NAMED = "A |w x\nB |w y\n" * 3


@pytest.fixture
def data(write):
    write("data.vw", LINES)
    write("named.vw", NAMED)


@pytest.mark.parametrize(
    ("options", "need"),  # need: MiB at -b 20
    [
        ("", 16),
        ("--sgd", 4),
        ("--adaptive", 8),
        ("--coin", 32),
        ("--average", 32),
        ("--average --sgd", 20),
        ("--bfgs --passes 2 -c", 28),
        ("--multiclass 3", 8.5),
        ("--multiclass 3 --average", 21),
        ("--multiclass 3 --group_l1 0.1", 4),
        ("--dotproduct ab --rank 3", 36),
        ("--multiclass 3 --dotproduct ab --rank 2", 34),
        ("--multiclass 3 --dotproduct ab --rank 2 --dot-rates global", 20),
        ("--filter_tree 5", 64),
    ],
)
def test_tables_of_every_learner_are_counted(options, need, vwlite, data, names_in):
    run = ("train", "data.vw", "-f", "model", "-b", 20, "--quiet", *options.split())
    stderr = vwlite(*run, "--max-memory", need / 1024 * 0.999, status=2).stderr
    gib = f"{need / 1024:.2f} GiB are more than --max-memory {need / 1024 * 0.999:g}"
    assert stderr == f"vwlite: weights of 1,048,576 slots: {gib}: a smaller -b needs less\n"
    assert "model" not in names_in()
    if "filter_tree" not in options and "multiclass" not in options:
        vwlite(*run, "--max-memory", need / 1024)
        assert "model" in names_in()


def test_vw_says_it_in_its_way(vwlite, data):
    done = vwlite("vw", "data.vw", "-b", 20, "--max-memory", 0.001, status=1)
    assert "[critical] vw: weights of 1,048,576 slots: 0.02 GiB are more than --max-memory 0.001" in done.stdout


def test_a_model_that_goes_on_needs_as_much(vwlite, data):
    vwlite("train", "data.vw", "-f", "model", "-b", 20, "--label-units", "raw")
    for command in ("train", "vw"):
        done = vwlite(command, "data.vw", "-i", "model", "--max-memory", 0.01, status=2 if command == "train" else 1)
        assert "more than --max-memory 0.01" in done.stdout + done.stderr
        vwlite(command, "data.vw", "-i", "model", "--max-memory", 0.016)


def test_options_that_widen_the_slots_of_a_model_count(vwlite, data):
    vwlite("train", "data.vw", "-f", "model", "-b", 20, "--adaptive")
    run = ("train", "data.vw", "-i", "model", "-f", "wide", "--power_t", 0.25, "--max-memory")
    assert "0.02 GiB are more than --max-memory 0.008" in vwlite(*run, 0.008, status=2).stderr
    vwlite(*run, 16 / 1024)


def test_columns_that_earlier_options_have_set_count(vwlite, data):
    vwlite("vw", "data.vw", "-f", "model", "-b", 20)
    run = ("vw", "data.vw", "-i", "model", "--adaptive")
    vwlite(*run, "-f", "model")
    assert "0.02 GiB are more than --max-memory 0.008" in vwlite(*run, "--max-memory", 0.008, status=1).stdout
    vwlite(*run, "--max-memory", 16 / 1024)
    vwlite("vw", "data.vw", "-f", "model", "-b", 20, "--adaptive")
    vwlite(*run, "--max-memory", 8 / 1024)


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_commands_that_predict_need_the_weights_alone(command, vwlite, data):
    vwlite("train", "data.vw", "-f", "model", "-b", 20)
    assert "0.00 GiB are more than" in vwlite(command, "-i", "model", "data.vw", "--max-memory", 0.003, status=2).stderr
    vwlite(command, "-i", "model", "data.vw", "--max-memory", 0.004)


def test_models_of_named_labels_are_counted_whole(vwlite, data):
    vwlite("l1", "named.vw", "--model", "multinomial", "-f", "tagger", "--passes", 1)
    vwlite("aso", "train", "named.vw", "-f", "classes")
    for model in ("tagger", "classes"):
        for command in ("predict", "evaluate"):
            stderr = vwlite(command, "-i", model, "named.vw", "--max-memory", 1e-7, status=2).stderr
            assert stderr.startswith(f"vwlite: {model}: 0.00 GiB are more than --max-memory 1e-07: ")
            vwlite(command, "-i", model, "named.vw", "--max-memory", 0.001)


def test_the_memory_of_crr_is_limited(vwlite, data):
    run = ("crr", "data.vw", "-f", "model", "--steps", 10, "-b", 20)
    assert "weights of 1,048,576 slots" in vwlite(*run, "--max-memory", 0.003, status=2).stderr
    vwlite(*run, "--max-memory", 0.004)


@pytest.mark.parametrize("command", ["train", "predict"])
def test_no_memory_at_all_is_no_limit_to_ask_for(command, vwlite, data):
    vwlite("train", "data.vw", "-f", "model")
    model = ("-i", "model")
    stderr = vwlite(command, *model, "data.vw", "--max-memory", 0, status=2).stderr
    assert "--max-memory takes a number above 0, not 0" in stderr
