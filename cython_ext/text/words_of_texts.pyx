"""Texts that stand one behind the other, their words made lower case."""

from libc.stdint cimport int64_t, uint8_t, uint16_t

from text.lower_words cimport lower_words


def lower_texts(const uint8_t[::1] text, const int64_t[::1] starts, const uint16_t[::1] lower, uint8_t[::1] out):
    """Write to ``out``, as long as ``text``, every text ``text[starts[i]:starts[i + 1]]`` as ``lower_words`` does.

    ``lower``: uint16[65536]. Raises ValueError for arrays that are too short and starts that do not ascend.
    """
    cdef Py_ssize_t i, n = starts.shape[0] - 1
    if lower.shape[0] < 65536 or out.shape[0] < text.shape[0]:
        raise ValueError("an array is too short")
    for i in range(n):
        if not 0 <= starts[i] <= starts[i + 1] <= text.shape[0]:
            raise ValueError("starts do not ascend within the text")
    if not text.shape[0]:
        return
    with nogil:
        for i in range(n):
            lower_words(<const char *>&text[0] + starts[i], <size_t>(starts[i + 1] - starts[i]), &lower[0], <char *>&out[0] + starts[i])
