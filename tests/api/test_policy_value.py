"""The value of a policy from arrays; tests/cli/test_bandits.py compares it with the command's."""

import numpy as np
import pytest

import vwlite as package
from vwlite import UsageError, policy_value


def log(n=200):
    draw = np.random.default_rng(1)
    action, p = draw.integers(0, 3, n), np.full(n, 1 / 3)
    return action, (draw.random(n) < 0.2 + 0.2 * action).astype(float), p


def test_equivalent_estimators_have_equal_values():
    """A perfect model of costs and one of zeros; the logging policy itself costs the mean; shifted costs."""
    action, cost, p = log()
    pi = np.full((len(action), 3), 1 / 3)
    estimates = policy_value(pi, action, cost, p, np.zeros((len(action), 3)))
    assert estimates["ips"].value == pytest.approx(cost.mean()) == estimates["cv"].value == estimates["dr"].value
    q = np.tile([0.2, 0.4, 0.6], (len(action), 1))
    pi = np.tile([0.5, 0.3, 0.2], (len(action), 1))
    values, moved = policy_value(pi, action, cost, p, q), policy_value(pi, action, cost + 5, p, q + 5)
    for name in ("cv", "dr", "dm"):
        assert moved[name].value == pytest.approx(values[name].value + 5)
    assert values["cv"].low < values["cv"].value < values["cv"].high and "policy_value" in package.__all__


def test_the_difference_to_another_policy():
    action, cost, p = log()
    pi, q, other = np.tile([0.5, 0.3, 0.2], (200, 1)), np.tile([0.2, 0.4, 0.6], (200, 1)), np.full(200, 2)
    one, two = (policy_value(policy, action, cost, p, q, against=other) for policy in (pi, other))
    low, value, high = (one["difference"][place] for place in (1, 0, 2))
    assert value == pytest.approx(one["dr"].value - two["dr"].value) and low < -0.3 < high < 0
    assert two["difference"] == (0, 0, 0)
    plain = policy_value(np.zeros(200), action, cost, p, against=other)
    assert plain["difference"].value == pytest.approx(plain["ips"].value - two["ips"].value) and "dr" not in plain
    assert "difference" not in policy_value(pi, action, cost, p)
    with pytest.raises(UsageError, match="have as many columns: 3, not the 4 of against"):
        policy_value(pi, action, cost, p, against=np.full((200, 4), 0.25))
    with pytest.raises(UsageError, match="the probabilities of against are not below 0"):
        policy_value(pi, action, cost, p, against=np.full(200, 3))


@pytest.mark.parametrize("change, said", [
    ({"p": 0.0}, "probabilities are above 0"),
    ({"cost": np.nan}, "costs are finite"),
    ({"action": 3}, "a column for each action"),
    ({"pi": 0.5}, "sum to 1"),
    ({"cost_range": (0, 0.5)}, "cost_range 0,0.5"),
])
def test_wrong_arrays_are_refused(change, said):
    action, _, p = log(10)
    given = {"pi": np.full((10, 3), 1 / 3), "action": action, "cost": np.ones(10), "p": p}
    for name, value in change.items():
        given[name] = value if name == "cost_range" else np.full_like(given[name], value)
    with pytest.raises(UsageError, match=said):
        policy_value(**given)
