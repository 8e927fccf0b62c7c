"""What the options say about namespaces, by their first byte."""

from .options import Options

AFFIX, SPELLING, CONSTANT, ANONYMOUS = 132, 133, 128, 32


def redefinition(options: Options) -> list[int]:
    """The byte each namespace byte is filed under."""
    table = list(range(256))
    for rule in options.redefine:
        new, _, old = rule.partition(b":=")
        target = new[0] if new else ANONYMOUS
        for byte in old:
            if byte == ord(":"):
                table = [target] * 256
                break
            table[byte] = target
    return table


def is_dropped(char: int, options: Options) -> bool:
    """True for namespaces that --ignore and --keep remove; --keep wins for the whole table."""
    if options.keep is not None:
        return char not in options.keep
    return char in options.ignore
