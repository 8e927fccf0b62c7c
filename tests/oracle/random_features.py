"""Random features in plain Python: float32 where the kernel has it, in its order, so that the numbers are the same."""

import math

import numpy as np

F32 = np.float32
KEYS = {"fold": 1, "sketch": 2, "sign": 3, "phase": 4, "direction": 5}
SINE = [F32(x) for x in (6.2831853072, -41.341702240, 81.605249276, -76.705859753, 42.058693945, -15.094642577)]


def mix64(z):
    z %= 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def hashed(seed, purpose, number):
    return mix64(mix64(seed << 8 | KEYS[purpose]) + number)


def unit_interval(bits):
    return ((bits >> 12) + 0.5) / 2**52


def drop(bucket, bits, value):
    place = bits % len(bucket)
    bucket[place] += -value if bits >> 63 else value


def folded(terms, fold, seed):
    bucket = np.zeros(fold, F32)
    for slot, value in terms:
        if slot < fold:
            bucket[slot] += F32(value)
        else:
            drop(bucket, hashed(seed, "fold", slot), F32(value))
    return bucket


def hadamard(x):
    """The transform by its levels, neighbours first."""
    x, half = list(x), 1
    while half < len(x):
        for i in range(len(x)):
            if not i & half:
                x[i], x[i | half] = x[i] + x[i | half], x[i] - x[i | half]
        half *= 2
    return np.array(x, F32)


def projected(bucket, block, seed):
    x = bucket
    for k in range(3):
        bits = [hashed(seed, "sign", 3 * block + k << 32 | place) for place in range(len(x))]
        x = hadamard(x * np.array([-1 if bit >> 63 else 1 for bit in bits], F32))
    return x


def sketched(terms, fold, seed, number):
    bucket = np.zeros(fold, F32)
    for slot, value in terms:
        drop(bucket, hashed(seed, "sketch", number << 32 | slot), F32(value))
    return hadamard(bucket)


def cosines(x, seed, scale, size):
    phase = np.array([unit_interval(hashed(seed, "phase", j)) for j in range(len(x))]).astype(F32)
    turns = x * F32(scale) + phase
    part = np.abs(turns - ((turns + F32(12582912)) - F32(12582912)))
    u = F32(0.25) - np.minimum(part, F32(0.5))
    sine = SINE[-1]
    for factor in SINE[-2::-1]:
        sine = factor + u * u * sine
    return F32(size) * (u * sine)


def direction(seed, bucket, feature):
    u = unit_interval(hashed(seed, "direction", bucket << 32 | feature))
    return math.tan(math.pi * (u - 0.5))


def features(terms, kernel, size, *, gamma=1.0, fold=1024, seed=0):
    """float32[size], of the terms of one example, pairs of slot and value, without the constant."""
    turn = 2 * math.pi
    if kernel == "laplace":
        bucket, x = folded(terms, fold, seed), np.zeros(size, F32)
        for place in np.flatnonzero(bucket).tolist():
            x = x + bucket[place] * np.array([direction(seed, place, j) for j in range(size)]).astype(F32)
        return cosines(x, seed, gamma / turn, math.sqrt(2 / size))
    blocks = range(-(-size // fold))
    if kernel in ("rbf", "arccos"):
        bucket = folded(terms, fold, seed)
        x = np.concatenate([projected(bucket, block, seed) for block in blocks])[:size]
        if kernel == "rbf":
            return cosines(x, seed, math.sqrt(2 * gamma) / fold / turn, math.sqrt(2 / size))
        return np.where(x > 0, F32(math.sqrt(2 / size) / fold) * x, F32(0))
    products = []
    for block in blocks:
        product = sketched(terms, fold, seed, 3 * block)
        for factor in range(1, int(kernel[4:])):
            product = product * sketched(terms, fold, seed, 3 * block + factor)
        products.append(product)
    return F32(1 / math.sqrt(size)) * np.concatenate(products)[:size]
