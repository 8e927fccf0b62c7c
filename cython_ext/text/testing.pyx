"""Functions that kernels inline, callable by the tests. Nothing else uses this module, and wheels leave it out."""

from libc.stdint cimport uint32_t

from base.byte_scan cimport delimiters as find_delimiters
from base.byte_scan cimport breaks, breaks_scalar, delimiters_scalar, either, either_scalar, nondigits, nondigits_scalar
from text.murmur3 cimport hash_name as hash_of
from text.murmur3 cimport murmur3 as murmur3_of
from text.number_parser cimport POWERS, fill_powers
from text.number_parser cimport is_number_form as is_form_of_number
from text.number_parser cimport read_number as number_at

cdef extern from "text/decimals.h" nogil:
    const char *read_best "vwl_read_decimals"(const char *p, const char *end, uint32_t seed, const float *powers,
                                              uint32_t *hash, float *value, size_t capacity, size_t *count) noexcept
    const char *read_scalar "vwl_read_decimals_scalar"(const char *p, const char *end, uint32_t seed, const float *powers,
                                                       uint32_t *hash, float *value, size_t capacity, size_t *count) noexcept

cdef extern from "losses/exponentials.h" nogil:
    double exp_of "vwl_exp"(double x) noexcept
    double log_of "vwl_log"(double x) noexcept
    float lambert_excess_of "vwl_lambert_excess"(double x) noexcept

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef enum:
    SLACK = 64  # readable bytes behind whatever is read


cdef const char *start_of(const unsigned char[::1] padded, Py_ssize_t begin, Py_ssize_t end) except NULL:
    if not 0 <= begin <= end <= padded.shape[0] - SLACK:
        raise ValueError("the text needs 64 bytes of slack")
    return <const char *>&padded[begin]


def murmur3(const unsigned char[::1] padded, Py_ssize_t length, uint32_t seed):
    """MurmurHash3_x86_32 of ``padded[:length]``, behind which 64 bytes must follow (ValueError), as everywhere here."""
    return murmur3_of(start_of(padded, 0, length), length, seed)


def hash_name(const unsigned char[::1] padded, Py_ssize_t length, uint32_t seed, bint hash_all):
    """The hash of the name ``padded[:length]``."""
    return hash_of(start_of(padded, 0, length), length, seed, hash_all)


def scan(const unsigned char[::1] padded):
    """What ends a name among the first 16 bytes, what no plain name holds, and what is no digit: bit masks, each by vector
    and by scalar code.
    """
    cdef const char *p = start_of(padded, 0, 16)
    return (find_delimiters(p), delimiters_scalar(p)), (breaks(p), breaks_scalar(p)), (nondigits(p), nondigits_scalar(p))


def find_either(const unsigned char[::1] padded, unsigned char a, unsigned char b):
    """Which of the first 16 bytes are one of two: bit masks by vector and by scalar code."""
    cdef const char *p = start_of(padded, 0, 16)
    return either(p, <char>a, <char>b), either_scalar(p, <char>a, <char>b)


def read_decimals(const unsigned char[::1] padded, Py_ssize_t end, uint32_t seed, bint scalar, uint32_t[::1] hash,
                  float[::1] value):
    """Features like ``160:0.3882`` in ``padded[:end]``: how many bytes of them were read and how many now are in ``hash``,
    uint32[n], and ``value``, float32[n]; with the fastest variant that the processor supports, or the ``scalar`` one.
    ``padded[end]`` must be a byte that ends a line.
    """
    cdef const char *start = start_of(padded, 0, end)
    cdef const char *stop
    cdef size_t count = 0
    if hash.shape[0] != value.shape[0]:
        raise ValueError("hashes and values differ in length")
    stop = (read_scalar if scalar else read_best)(start, start + end, seed, POWERS_OF_TEN, &hash[0], &value[0],
                                                     hash.shape[0], &count)
    return (stop - start if stop != NULL else 0), count


def read_number(const unsigned char[::1] padded, Py_ssize_t begin, Py_ssize_t end):
    """The number at ``padded[begin:end]``, a part of a line: ``(value, bytes read, whether its form is clearly a number's)``.

    0 bytes read mean that there is none; ``padded[end]`` must be a byte that ends a line or a word.
    """
    cdef float value = 0
    cdef const char *start = start_of(padded, begin, end)
    cdef const char *stop = number_at(start, start + (end - begin), POWERS_OF_TEN, &value)
    return value, stop - start, is_form_of_number(start, stop)


def exp(double x):
    """exp as in the logistic loss, for -700 <= x <= 700."""
    return exp_of(x)


def log(double x):
    """log as in the logistic loss, for 11/16 <= x."""
    return log_of(x)


def lambert_excess(double x):
    """W(exp(x)) - x as in updates of the logistic loss."""
    return lambert_excess_of(x)
