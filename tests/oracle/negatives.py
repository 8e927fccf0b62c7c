"""What ``--negatives`` learns, in plain Python: the text that a learner without it would have to be given."""

import math

from oracle.random_features import mix64, unit_interval


class Draws:
    """Lines of label, importance, person and item become text with what is drawn behind each."""

    def __init__(self, count, seed, unwanted, weight=1.0):
        self.count, self.seed, self.unwanted, self.weight = count, mix64(seed + 0x9E3779B97F4A7C15), unwanted, weight
        self.met, self.rows = [], 0

    def lines(self, label, importance, person, item):
        """``item``: text of namespaces, "" for a line without one. The line itself is the first."""
        result = [line(label, importance, person, item)]
        if not item or importance <= 0 or math.isnan(label):
            return result
        if item not in self.met:
            self.met.append(item)
        if label <= self.unwanted:
            return result
        others = [one for one in self.met if one != item]
        row = mix64(self.seed ^ mix64(self.rows + 1))
        self.rows += 1
        for number in range(1, self.count + 1) if others else ():
            place = int(unit_interval(mix64(row ^ mix64(number))) * len(others))
            result.append(line(self.unwanted, importance * self.weight, person, others[place]))
        return result


def line(label, importance, person, item):
    message = "" if math.isnan(label) else f"{label:g} {importance:g}"
    return f"{message} {person} {item}\n"
