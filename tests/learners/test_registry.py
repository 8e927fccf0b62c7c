"""Every learner tells of itself what others have to know; nobody else asks for one by its name."""

import re
from pathlib import Path

import pytest

import vwlite
from vwlite.errors import ModelError
from vwlite.learners import CLASSES, config_class, config_classes, goes_over, learner_class
from vwlite.learners.base import Learner
from vwlite.learners.configs.base import LearnerConfig

ROOT = Path(vwlite.__file__).parent
NAMES = "|".join(f"[\"']{name}[\"']" for name in CLASSES)
WHOSE = r"""(?:learner|kind|config|kept\["learner"\]|base)(?:\.name|\.learner)?"""
BY_NAME = re.compile(rf"{WHOSE}\s*(?:[!=]=|in)\s*\(?(?:{NAMES})")


@pytest.mark.parametrize("name", CLASSES)
def test_a_line_of_the_registry_names_learner_and_options(name):
    learner, config = learner_class(name), config_class(name)
    assert learner.name == config.learner == name
    assert issubclass(config, LearnerConfig)


def test_a_run_asks_few_things_of_any_learner():
    members = [name for name in {*vars(Learner), *Learner.__annotations__} if not name.startswith("__")]
    assert len(members) <= 19, f"{sorted(members)}: what only some have is an ability"


def test_an_option_asks_for_one_learner():
    asked = [option for config in config_classes() for option in config.selected_by]
    assert len(asked) == len({*asked})


def test_no_learner_is_asked_for_by_name_elsewhere():
    files = [path for path in ROOT.rglob("*.py") if ROOT / "learners" not in path.parents]
    actual = [f"{path}: {match[0]}" for path in files for match in BY_NAME.finditer(path.read_text())]
    assert not actual


def test_the_pattern_finds_such_questions():
    for line in ('learner.name == "coin"', 'config.learner != "bfgs"', 'kind in ("gd", "many")'):
        assert BY_NAME.search(line)


COMPOSED = [f"{upper}+{lower}" for upper in CLASSES for lower in CLASSES if goes_over(upper, lower)]


@pytest.mark.parametrize("name", COMPOSED)
def test_a_learner_over_another_is_both(name):
    upper, lower = name.split("+")
    learner, config = learner_class(name), config_class(name)
    assert learner.name == config.learner == name and learner.config_type is config
    for part in (upper, lower):
        assert issubclass(learner, learner_class(part)) and issubclass(config, config_class(part))
        assert {*config_class(part).__dataclass_fields__} <= {*config.__dataclass_fields__}


@pytest.mark.parametrize("name", ["coin+many", "many+bfgs", "many+many", "filter_tree+coin", "many+", "many+coin+coin"])
def test_no_other_is(name):
    with pytest.raises(ModelError, match="knows no learner"):
        learner_class(name)
