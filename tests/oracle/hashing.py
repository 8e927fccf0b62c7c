"""Feature hashing: MurmurHash3 (x86, 32 bits) and the rule that leaves numbers unhashed."""

MASK32 = 0xFFFFFFFF


def rotate(x: int, n: int) -> int:
    return (x << n | x >> (32 - n)) & MASK32


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32 of ``data`` (Austin Appleby, public domain)."""
    h = seed & MASK32
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at : at + 4], "little") * 0xCC9E2D51 & MASK32
        h ^= rotate(k, 15) * 0x1B873593 & MASK32
        h = (rotate(h, 13) * 5 + 0xE6546B64) & MASK32
    if len(data) > whole:
        k = int.from_bytes(data[whole:], "little") * 0xCC9E2D51 & MASK32
        h ^= rotate(k, 15) * 0x1B873593 & MASK32
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> shift) * factor & MASK32
    return h ^ h >> 16


def hash_name(data: bytes, seed: int, mode: str = "strings") -> int:
    """``uint32`` hash of a name, as Vowpal Wabbit's ``--hash strings`` (or all) computes it.

    With "strings", bytes up to 32 at both ends do not count, and a name of digits only (or of
    nothing) is the number itself, modulo 2**64, plus the seed.
    """
    if mode == "all":
        return murmur3(data, seed)
    name = data.strip(bytes(range(33)))
    if all(48 <= byte <= 57 for byte in name):
        return ((int(name or b"0") % 2**64) + seed) & MASK32
    return murmur3(name, seed)
