"""How probable it is that a label is asked for (Beygelzimer, Hsu, Langford and Zhang, 2010)."""

from libc.math cimport logf, sqrtf

from base.float32 cimport FOUR, ONE, TWO

cdef extern from *:
    const float HALF "0.5f"
    const float TINY "0.0001f"


cdef inline float clip_to_unit(float x) noexcept nogil:
    return 0 if x < 0 else (1 if x > 1 else x)


cdef inline float query_probability(float mellowness, float sum_loss, float labeled, float seen, float flip) noexcept nogil:
    """After examples of total importance ``seen``, of which ``labeled`` was learned with ``sum_loss``.

    ``flip`` is the importance that would flip the prediction's sign, divided by ``seen``.
    """
    cdef float bound = mellowness * (logf(seen + ONE) + TINY) / (seen + TINY), ratio, root
    cdef float loss = sum_loss / seen
    loss = clip_to_unit(loss + sqrtf((ONE + HALF * logf(seen)) / (labeled + TINY)))
    root = sqrtf(loss) + sqrtf(loss + flip)
    if flip <= sqrtf(bound) * root + bound:
        return 1
    ratio = (root + sqrtf(root * root + FOUR * flip)) / (TWO * flip)
    return bound * ratio * ratio
