"""20 newsgroups (one document a line: part | group | file | text, tabs for newlines) as VW text for vwlite aso.

    python examples/newsgroups_to_vw.py 20news.txt.gz >all.vw

Headers and function words are removed; a word's value is 1 + log of how often it is said.
"""

import gzip
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator

WORD = re.compile(r"[a-z][a-z0-9'\-.]*[a-z0-9]")
# Words that say nothing of a topic: articles, pronouns, prepositions, conjunctions, auxiliaries, common verbs.
FUNCTION_WORDS = """
a an the this that these those such same other another each every either neither both all any some none no not nor only
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves who whom whose which what whatever whoever one ones oneself someone
something anyone anything everyone everything nobody nothing nothin
aboard about above across after against along among around as at before behind below beneath beside besides between
beyond but by despite down during except for from in inside into like near of off on onto out outside over past per
since through throughout till to toward towards under underneath until up upon via with within without
and because if or so than then though although unless whereas while whether yet however therefore thus hence else
am is are was were be been being do does did done doing have has had having can could may might must shall should will
would ought cannot can't couldn't don't didn't doesn't won't wouldn't shouldn't isn't aren't wasn't weren't
haven't hasn't hadn't i'm i've i'd i'll you're you've you'd you'll he's he'd she's it's it'd it'll we're we've we'd
we'll they're they've they'd they'll that's there's there're here's what's who's let's ain't mustn't
again almost already also always anyway away back ever even enough far further here how just least less many more most
much never now often once perhaps quite rather really several seem seems seemed soon still there too very well when
where why whenever wherever yes maybe instead otherwise meanwhile indeed
get gets got getting go goes going gone went make makes made making take takes took taken say says said see seen saw
know knows knew known think thinks thought want wants use used using give gives given put find found let come comes came
tell told ask asked try tried keep look looks need needs seem become becomes
first last next two three four five own few new good ok etc eg ie re vs
"""
STOPPED = frozenset(FUNCTION_WORDS.split())


def documents(path: str) -> Iterator[tuple[str, list[str]]]:
    """Group and words of each document."""
    with gzip.open(path, "rt", encoding="latin-1", newline="\n") as file:
        for line in file:
            _, group, _, text = (field.strip(" ") for field in line.rstrip("\n").split("|", 3))
            _, _, body = text.partition("\t\t")
            yield group, [word for word in WORD.findall((body or text).lower()) if word not in STOPPED]


def line(group: str, words: list[str]) -> str:
    """The document in VW text; colons and bars cannot be in words."""
    counts = Counter(words)
    return f"{group} |w " + " ".join(f"{word}:{1 + math.log(count):.6g}" for word, count in counts.items())


def main() -> None:
    for group, words in documents(sys.argv[1]):
        print(line(group, words))


if __name__ == "__main__":
    main()
