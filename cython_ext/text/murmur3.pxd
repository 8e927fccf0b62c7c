"""MurmurHash3 (x86, 32 bit) and the hash of a name, which is a number or the name's MurmurHash3."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from base.byte_scan cimport nondigits


cdef inline uint32_t rotl(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint32_t mix_word(uint32_t k) noexcept nogil:
    return rotl(k * <uint32_t>0xcc9e2d51, 15) * <uint32_t>0x1b873593


cdef inline uint32_t mix_state(uint32_t h, uint32_t k) noexcept nogil:
    return rotl(h ^ mix_word(k), 13) * 5 + <uint32_t>0xe6546b64


cdef inline uint32_t load_word(const char *p) noexcept nogil:
    """Four bytes as a little-endian integer, on any machine."""
    cdef const unsigned char *u = <const unsigned char *>p
    return <uint32_t>u[0] | <uint32_t>u[1] << 8 | <uint32_t>u[2] << 16 | <uint32_t>u[3] << 24


cdef inline uint32_t murmur3(const char *p, size_t length, uint32_t seed) noexcept nogil:
    """MurmurHash3_x86_32. Reads up to 15 bytes past the end: the buffer must have that much slack.

    Names below 16 bytes take the same path whatever their length: three words are mixed and the state after the name's last
    complete word is selected, which costs less than a mispredicted loop.
    """
    cdef uint32_t h = seed, step, k
    cdef size_t words = length >> 2, i
    if words <= 3:
        step = mix_state(h, load_word(p))
        h = step if words > 0 else h
        step = mix_state(h, load_word(p + 4))
        h = step if words > 1 else h
        step = mix_state(h, load_word(p + 8))
        h = step if words > 2 else h
    else:
        for i in range(words):
            h = mix_state(h, load_word(p + 4 * i))
    k = load_word(p + 4 * words) & <uint32_t>((<uint64_t>1 << (8 * (length & 3))) - 1)
    h ^= mix_word(k)
    h ^= <uint32_t>length
    h ^= h >> 16
    h *= <uint32_t>0x85ebca6b
    h ^= h >> 13
    h *= <uint32_t>0xc2b2ae35
    h ^= h >> 16
    return h


cdef inline bint all_digits(const char *p, size_t length) noexcept nogil:
    cdef size_t i
    if length <= 16:
        return nondigits(p) & <uint32_t>((<uint64_t>1 << length) - 1) == 0
    for i in range(length):
        if <unsigned char>(p[i] - 48) > 9:
            return False
    return True


cdef inline uint32_t hash_name(const char *p, size_t length, uint32_t seed, bint hash_all) noexcept nogil:
    """Hash of a name as with Vowpal Wabbit's ``--hash all`` or ``--hash strings`` (the default).

    With ``strings`` the hash of a name of ASCII digits is its value plus the seed, and control characters around a name are
    ignored.
    """
    cdef uint64_t number = 0
    cdef size_t i
    if hash_all:
        return murmur3(p, length, seed)
    while length and <unsigned char>p[0] <= 32:
        p += 1
        length -= 1
    while length and <unsigned char>p[length - 1] <= 32:
        length -= 1
    if all_digits(p, length):
        for i in range(length):
            number = number * 10 + <uint64_t>(p[i] - 48)
        return <uint32_t>number + seed
    return murmur3(p, length, seed)
