"""What is to be made of an example's features: filled from a ``vwlite.features.feature_plan.Plan``."""

from libc.stdint cimport int32_t, uint8_t, uint32_t


cdef enum:
    LETTERS = 256      # groups are numbered by namespace character; full-name groups follow
    MAX_NAMES = 64     # full-name groups at most


cdef struct Plan:
    uint32_t mask                # 2^bits - 1
    bint constant                # add the constant feature
    bint permutations            # all combinations of a namespace with itself, in every order
    bint sort                    # sort features of each namespace and drop repeated indices
    bint flat                    # nobody needs groups: rows may be copied as they stand
    bint plain                   # neither n-grams, limits, filters nor renaming: groups are the segments themselves
    const uint8_t *redefine      # (256,) character -> character it is filed under
    const uint8_t *ignore        # (256,) 1: drop the namespace
    const uint8_t *nonlinear     # (256,) 1: no linear terms of it
    const uint8_t *ngram         # (256,) longest n-gram, 0 or 1 for none
    const uint8_t *skips         # (256,) skips within n-grams
    const int32_t *limit         # (256,) features kept at most, 0 for all
    int names                    # number of full-name groups
    const uint32_t *name_hash    # (names,) hash of the namespace's whole name
    int interactions
    const int32_t *first_letter  # (interactions + 1,) offsets into letters
    const int32_t *letters       # group numbers of each interaction, in order
    const int32_t *alike         # (interactions,) how many pairs from it on begin with its first letter; 0: it is no pair
    const volatile uint8_t *stop # not 0: a signal asks whoever works to stop
    uint8_t *matched             # (interactions,) set to 1 by the first row that has all of its namespaces
