"""Options of language models: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import asdict

from vwlite.options import Config, OptionValues, config, option

TOKENS = ("words", "blanks")


@config
class LmConfig(Config):
    """``curriculum`` 0 stands for the whole vocabulary from the first pass on."""

    window: int = option(5, "Words of a window.", low=2, high=100, settled=True)
    dim: int = option(50, "Numbers of a word's vector.", low=1, high=10_000, settled=True)
    hidden: int = option(100, "Hidden units.", low=1, high=10_000, settled=True)
    vocabulary: int = option(20_000, "The most frequent words that are learned.", low=2, high=10_000_000, settled=True)
    tokens: str = option(
        "words", "Runs of letters in lower case, 0 for numbers, .,!?;: each by itself; or what blanks separate.",
        choices=TOKENS, settled=True,
    )
    curriculum: int = option(
        0, "Windows of the N most frequent words in the first pass, of 2N in the second, ...", low=1,
        high=10_000_000, settled=True, shown="all from the start",
    )
    draws: int = option(
        1, "Wrong words that a step draws at most, until one misses the margin, as in WSABIE.", low=1, high=10_000
    )
    passes: int = option(1, "Passes, each of as many steps as there are windows.", low=1)
    rate: float = option(
        0.5, "Learning rate of the words' vectors.", spelled=("-l", "--learning_rate"), key="learning_rate", above=0
    )
    layer_rate: float = option(0.002, "Learning rate of the two layers.", spelled=("--layer_rate",), above=0)
    power_t: float = option(0.5, "Rates fall as (1 + steps / initial_t) to the power of -X.", low=0, high=1)
    initial_t: float = option(1e6, "See --power_t.", above=0)
    seed: int = option(0, "Seed of what is drawn.", spelled=("--random_seed", "--seed"), low=0, high=2**63 - 1)

    def rates(self, step: int) -> tuple[float, float]:
        """The learning rates of word vectors and of the layers after a number of steps."""
        factor = (1 + step / self.initial_t) ** -self.power_t
        return self.rate * factor, self.layer_rate * factor

    def kept(self) -> OptionValues:
        """What models and reports say of the options, as JSON data; passes are counted, ``draws`` 1 is not said."""
        omitted = {"passes", "draws"} if self.draws == 1 else {"passes"}
        return {name: value for name, value in asdict(self).items() if name not in omitted}

    def known(self, number: int, words: int) -> int:
        """The number of words that windows of pass ``number``, from 0, may have; ``words``: size of the vocabulary."""
        return min(words, self.curriculum * (number + 1)) if self.curriculum else words


@config
class RankConfig(Config):
    windows: int = option(10_000, "Windows that are ranked, drawn from those of the text; 0: all.", low=0)
    seed: int = option(0, "Seed of what is drawn.", spelled=("--random_seed", "--seed"), low=0, high=2**63 - 1)


@config
class FeaturesConfig(Config):
    """``scale`` multiplies all vectors."""

    namespaces: tuple[str, ...] = option(
        (), "Namespace whose features are words; its vector makes the namespace e, and of several e_NS.",
        spelled=("--namespace",), key="namespaces", metavar="NS", required=True,
    )
    scale: float = option(1.0, "What vectors are multiplied by.", above=0)
