"""How an example is expanded into terms: a view of a ``vwlite.features.feature_plan.Plan``."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from features.random_map cimport RandomMap


cdef enum:
    LETTERS = 256      # group numbers below are namespace characters; the groups of full names follow
    MAX_NAMES = 64     # groups of full names at most


cdef struct Plan:
    uint32_t mask                # 2^bits - 1
    bint constant                # add the constant feature
    bint permutations            # interactions of a namespace with itself have all permutations, not only combinations
    bint sort                    # sort features of each namespace and drop repeated indices
    bint flat                    # the learner needs no groups, so that rows are copied without making them
    bint plain                   # nothing below changes features or namespaces: groups are the segments themselves
    const uint8_t *redefine      # (256,) namespace character -> the character it counts as
    const uint8_t *ignore        # (256,) 1: the namespace is dropped
    const uint8_t *nonlinear     # (256,) 1: the namespace has no linear terms
    const uint8_t *ngram         # (256,) longest n-gram, 0 or 1 for none
    const uint8_t *skips         # (256,) skips allowed in n-grams
    const int32_t *limit         # (256,) number of features kept, 0 for all
    int names                    # number of groups of full names
    const uint32_t *name_hash    # (names,) hash of the namespace's full name
    int interactions
    const int32_t *first_letter  # (interactions + 1,) offsets into letters
    const int32_t *letters       # group numbers of each interaction, in order
    const int32_t *pair_run      # (interactions,) number of pairs from this one on with the same first group; 0: not a pair
    const volatile uint8_t *stop # set to 1 when a signal asks kernels to stop
    uint8_t *matched             # (interactions,) set to 1 when a row has all of its namespaces
    RandomMap random             # to further features, which follow all other terms
