"""CRC-32 of two byte strings laid one after the other, from the CRCs of each.

CRC-32 (ISO 3309, as zip uses it) is linear over GF(2): appending `n` zero bits to a
message multiplies its remainder by x^n modulo the polynomial. zlib has this as
crc32_combine, which Python's zlib module does not offer.
"""

import functools

#: The polynomial, bits reversed, as zlib has it.
POLYNOMIAL = 0xEDB88320


def _multiply(a: int, b: int) -> int:
    """Return a times b modulo the polynomial; bit 31 is the coefficient of x^0."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ (POLYNOMIAL if b & 1 else 0)
    return product


@functools.cache
def _square(number: int) -> int:
    """Return x squared that many times, modulo the polynomial."""
    return _multiply(_square(number - 1), _square(number - 1)) if number else 1 << 30


@functools.cache
def _power_of_x(bits: int) -> int:
    """Return x to the power of `bits` modulo the polynomial; kept, because headers and paddings have few sizes."""
    result = 1 << 31
    for number in range(bits.bit_length()):
        if bits >> number & 1:
            result = _multiply(result, _square(number))
    return result


def combine(first: int, second: int, second_size: int) -> int:
    """Return the CRC-32 of the joined string; `second_size` is the second part's length in bytes."""
    return _multiply(_power_of_x(8 * second_size), first) ^ second if first else second
