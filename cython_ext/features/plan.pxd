"""How an example is expanded into terms, a view of a ``vwlite.features.feature_plan.Plan``, and how its terms are mapped to features
of kernels: a view of a ``vwlite.features.random_features.RandomMap`` or a ``vwlite.features.landmarks.LandmarkMap``.
"""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    RBF = 0                      # numbered as in vwlite/features/config.py
    LAPLACE = 1
    POLY2 = 2
    POLY3 = 3
    ARCCOS = 4

# Fill ``out`` (size,) with the features of ``n`` terms; ``work`` (2 fold,) is overwritten.
ctypedef void (*FillFeatures)(const RandomMap *map, const uint32_t *index, const float *value, size_t n, float *work,
                              float *out) noexcept nogil


cdef struct Landmarks:
    size_t slots
    const uint32_t *slot         # (slots,) ascending: what landmarks have
    const int64_t *start         # (slots + 1,) where the entries of each slot begin
    const uint32_t *landmark     # (entries,)
    const float *value           # (entries,) of the slot in the landmark
    const double *norm           # (size,) sum of squares of each landmark
    const float *whiten          # (size, size), or NULL
    size_t nearest               # 0: similarities themselves; N: 1 for the N nearest landmarks, 0 for others
    double gamma


cdef struct RandomMap:
    FillFeatures fill            # NULL where an example's terms are mapped to nothing
    int kernel
    bint only                    # the terms mapped do not stand by themselves
    bint chosen                  # only features of some namespaces are mapped, not all terms
    const uint8_t *of            # (256,) 1: these namespaces
    uint32_t first               # slot of the first feature; the others follow it
    size_t size                  # number of features
    size_t fold                  # number of buckets, a power of two, 64 or more
    uint64_t fold_key            # state of the hash of slots to buckets
    uint64_t sketch_key          # the same for the factors of polynomials
    float scale                  # turns per unit of a projection
    float amplitude              # of a feature
    const float *sign            # (blocks, 3, fold) of 1 and -1
    const float *phase           # (size,) turns
    const float *direction       # (fold, size) for LAPLACE
    Landmarks landmarks          # with these ``kernel`` is one of ``random_features.pyx``, and nothing above is set from ``fold_key`` on


cdef inline object as_capsule(FillFeatures *fill):
    """``fill`` must live as long as its module."""
    return PyCapsule_New(fill, "vwlite.random_features", NULL)


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
    bint linear                  # all namespaces have linear terms
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
