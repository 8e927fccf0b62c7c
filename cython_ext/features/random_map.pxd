"""A map of an example's terms to random features: a view of a ``vwlite.features.random_features.RandomMap``."""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    RBF = 0                      # numbered as in vwlite/features/config.py
    LAPLACE = 1
    POLY2 = 2
    POLY3 = 3
    ARCCOS = 4

# Fill ``out`` (size,) with the features of ``n`` terms; ``work`` (2 fold,) is overwritten.
ctypedef void (*FillFeatures)(const RandomMap *map, const uint32_t *index, const float *value, size_t n, float *work,
                              float *out) noexcept nogil


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


cdef inline object as_capsule(FillFeatures *fill):
    """``fill`` must live as long as its module."""
    return PyCapsule_New(fill, "vwlite.random_features", NULL)


cdef inline RandomMap open_map(source):
    """A view of the map, whose arrays must outlive the call; one without ``fill`` for None."""
    cdef RandomMap map
    cdef const uint8_t[::1] of
    cdef const float[::1] sign, phase, direction
    memset(&map, 0, sizeof(map))
    if source is None:
        return map
    of, sign, phase, direction = source.of, source.sign, source.phase, source.direction
    map.fill = (<FillFeatures *>PyCapsule_GetPointer(source.fill, "vwlite.random_features"))[0]
    map.kernel, map.only, map.chosen = source.kernel, source.only, source.chosen
    map.first, map.size, map.fold = source.first, source.size, source.fold
    map.fold_key, map.sketch_key = source.fold_key, source.sketch_key
    map.scale, map.amplitude = source.scale, source.amplitude
    map.of = &of[0]
    map.sign = &sign[0] if sign.shape[0] else NULL
    map.phase = &phase[0] if phase.shape[0] else NULL
    map.direction = &direction[0] if direction.shape[0] else NULL
    return map
