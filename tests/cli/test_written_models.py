"""A model that ``train`` has written is one that other commands read, whatever was typed."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .test_any_options import TEXTS, options_of, values_of

LARGE = ("3.4e38", "-3.4e38", "3.3e38", "3e38", "1e39", "1e300", "1e-50", "1e10", "-1e10", "100")
TEXTS = {name: text for name, text in TEXTS.items() if name not in ("broken", "empty")}
APART = ("initial", "model", "predictions", "raw_predictions", "json_path")  # files that are no part of a model
TAKE_IT = {"predict": "-i m {text}", "inspect": "m", "train": "-i m {text} -f again --passes 2 --holdout_off --quiet"}


@st.composite
def one_or_two(draw):
    """Options of ``train`` with values."""
    options = [option for option in options_of("train") if option.name not in APART]
    words = []
    for option in draw(st.lists(st.sampled_from(options), min_size=1, max_size=2, unique_by=id)):
        words.append(draw(st.sampled_from((*option.opts, *option.secondary_opts))))
        if not option.is_flag:
            words.append(draw(st.sampled_from((*values_of(option), *LARGE))))
    return words


@pytest.mark.parametrize("bound", ["--min_prediction 0", "--max_prediction 1", "--max_prediction 3.4e38"])
def test_a_free_bound_is_read_back(vwlite, write, bound):
    write("d", TEXTS["two"])
    vwlite("train", "d", "-f", "m", *bound.split())
    for command, words in TAKE_IT.items():
        vwlite(command, *words.format(text="d").split())


@pytest.mark.parametrize("option", ["-l", "--l2", "--min_prediction", "--initial_weight", "--decay_learning_rate"])
def test_numbers_beyond_single_precision_are_refused(vwlite, write, names_in, option):
    write("d", TEXTS["two"])
    done = vwlite("train", "d", "-f", "m", option, "-1e39" if option == "--min_prediction" else "1e39", status=2)
    assert "1e39' is beyond the numbers of single precision" in done.stderr
    assert names_in() == ["d"]


def test_models_of_any_options_written_by_vwlite_are_read(vwlite, write, tmp_path):
    for name, text in TEXTS.items():
        write(name, text)

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(one_or_two(), st.sampled_from(sorted(TEXTS)))
    def check(words, text):
        (tmp_path / "m").unlink(missing_ok=True)
        done = vwlite("train", *words, "-f", "m", "-d", text, "-b", "8", "--threads", "1", "--quiet", status=None)
        if done.status == 0 and "--predict_only_model" not in words:
            for command, taking in TAKE_IT.items():
                taken = vwlite(command, *taking.format(text=text).split(), status=None)
                assert taken.status in (0, 70) or (command == "train" and taken.status in (2, 65)), taken.stderr

    check()
