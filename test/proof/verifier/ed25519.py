# SPDX-License-Identifier: Apache-2.0
"""Verification of Ed25519 signatures (RFC 8032 section 5.1.7) with integers: slow, but sufficient for a few."""
import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    """Sum of two points in extended coordinates (X, Y, Z, T)."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    s = (y1 - x1) * (y2 - x2) % P
    t = (y1 + x1) * (y2 + x2) % P
    u = 2 * t1 * t2 * D % P
    v = 2 * z1 * z2 % P
    e, f, g, h = t - s, v - u, v + u, t + s
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(count, point):
    total = (0, 1, 1, 0)
    while count:
        if count & 1:
            total = add(total, point)
        point = add(point, point)
        count >>= 1
    return total


def point_of(data):
    """The point that 32 bytes encode; None for bytes that encode no point."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    if x * x % P != square or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def small_order(data):
    """Whether 32 bytes encode a point of small order; y may be unreduced, and x = 0 may have a sign."""
    y = (int.from_bytes(data, "little") & (2**255 - 1)) % P
    point = point_of(y.to_bytes(32, "little"))
    if point is None:
        return False
    x, y, z, _ = times(8, point)
    return x % P == 0 and (y - z) % P == 0


def verify(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    left, right = times(s, BASE), add(r, times(k, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
