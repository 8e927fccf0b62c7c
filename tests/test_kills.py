"""A standing model survives whatever kills the command that writes over it, and the command can be repeated."""

import random

import pytest
from fuzz import kills


@pytest.mark.parametrize("command", kills.COMMANDS)
def test_a_standing_model_survives(command):
    """One of the hundred that ``python -m fuzz.kills`` kills."""
    assert kills.kill(command, random.Random(command)) in ("kept", "done")
