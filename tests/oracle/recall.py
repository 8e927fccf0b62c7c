"""The label that the same word had last, of all examples before one by one."""


def given_before(words, labels, sequence, most):
    """Of each example the label of the last one with its word in the ``most`` sequences before its own, -1 for none.

    Word 0 is none, and labels below 0 are not known.
    """
    number = [sum(start <= place for start in sequence[:-1]) for place in range(len(words))]
    result = []
    for place, word in enumerate(words):
        last = -1
        for other in range(place):
            near = number[place] - most <= number[other] < number[place]
            if word and words[other] == word and labels[other] >= 0 and near:
                last = labels[other]
        result.append(last)
    return result
