"""A grammar in ISO EBNF as a regular expression, where no rule needs itself."""

import re

TOKEN = re.compile(r'\s*(?:"([^"]+)"|\?\s*([^?]+?)\s*\?|(\w+)|(.))')


def expression(grammar, start, specials, ends):
    """What matches the rule ``start``.

    ``specials``: what stands for the words between question marks. ``ends``: what is true behind a difference.
    """
    rules = {}
    for rule in filter(str.strip, re.split(r";\s*$", grammar, flags=re.M)):
        name, _, right = rule.partition("=")
        rules[name.strip()] = TOKEN.findall(right.strip())
    return Reader(rules, specials, ends).rule(start)


class Reader:
    def __init__(self, rules, specials, ends):
        self.rules, self.specials, self.ends = rules, specials, ends

    def rule(self, name):
        before, self.tokens = getattr(self, "tokens", None), [*self.rules[name]]
        result = self.either()
        assert not self.tokens, f"{name}: {self.tokens}"
        self.tokens = before
        return result

    def takes(self, mark):
        if self.tokens and self.tokens[0][3] == mark:
            return self.tokens.pop(0)
        return None

    def either(self):
        options = [self.sequence()]
        while self.takes("|"):
            options.append(self.sequence())
        return f"(?:{'|'.join(options)})"

    def sequence(self):
        parts = [self.difference()]
        while self.takes(","):
            parts.append(self.difference())
        return "".join(parts)

    def difference(self):
        result = self.factor()
        return f"(?!{self.factor()}{self.ends}){result}" if self.takes("-") else result

    def factor(self):
        literal, special, name, mark = self.tokens.pop(0)
        if literal:
            return re.escape(literal)
        if special:
            return self.specials[special]
        if name:
            return self.rule(name)
        result = self.either()
        assert self.takes({"(": ")", "[": "]", "{": "}"}[mark])
        return result + {"(": "", "[": "?", "{": "*"}[mark]
