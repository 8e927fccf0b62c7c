"""The values of the template macros at a token, computed one character at a time."""

import re


def character_type(word):
    runs = []
    for character in word:
        kind = "A" if character.isupper() else "a" if character.islower() else character
        if character.isdecimal():
            kind = "0"
        if runs and runs[-1][0] == kind:
            runs[-1][1] += 1
        else:
            runs.append([kind, 1])
    return "".join(kind + ("+" if count > 1 else "") for kind, count in runs)


def chunks_of(labels):
    """The chunks of a sentence, each a list of positions of tokens."""
    chunks = []
    for place, label in enumerate(labels):
        mark, kind = mark_and_type(label)
        before = mark_and_type(labels[place - 1]) if place else ("O", "")
        inside = mark in ("I", "E", "L") and before in (("B", kind), ("I", kind))
        if inside:
            chunks[-1].append(place)
        else:
            chunks.append([place])
    return chunks


def mark_and_type(label):
    """The mark and the type of a chunk label: ``("B", "np")`` for ``b_np``, ``("O", "")`` outside of chunks."""
    plain = len(label) != 1 and (len(label) < 3 or label[1] not in "-_")
    return ("O", "") if plain or label[0] not in "BIELbiel" else (label[0].upper(), label[2:])


def values(sentence, place, kind, row, column, sizes=(), regex=None):
    """The macro's values at a token; ``sentence`` has a list of columns for each."""
    if kind == "k":
        chunks = chunks_of([token[column] for token in sentence])
        own = next(number for number, chunk in enumerate(chunks) if place in chunk)
        index = own + row
        return [sentence[at][0] for at in chunks[index]] if 0 <= index < len(chunks) else []
    at = place + row
    if at < 0 or at >= len(sentence):
        missing = f"_B-{-at}" if at < 0 else f"_B+{at + 1 - len(sentence)}"
        return [missing] if kind in ("x", "l") else []
    word = sentence[at][column]
    characters = list(word)
    if kind == "x":
        return [word]
    if kind == "l":
        return [word.lower()]
    if kind == "t":
        return [character_type(word)]
    if kind == "p":
        return ["".join(characters[i] for i in range(size)) for size in sizes if size <= len(characters)]
    if kind == "s":
        return ["".join(characters[i] for i in range(-size, 0)) for size in sizes if size <= len(characters)]
    matches = [match.group() for match in re.finditer(regex, word)]
    return matches[:1] if matches and matches[0] else []
