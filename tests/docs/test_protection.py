# SPDX-License-Identifier: MIT
"""What docs/protection.md says of the polynomial of CRC-64/XZ is so."""

from lib.program import TOP

# Of degree 64; bit n is the coefficient of x^n.
POLYNOMIAL = 1 << 64 | 0x42F0E1EBA9EA3693
# The order of x modulo the polynomial, and the primes in it.
ORDER, PRIMES = 2 * 7 * 31 * 151 * 131071, (2, 7, 31, 151, 131071)


def product(one: int, other: int) -> int:
    """Modulo the polynomial."""
    result = 0
    while other:
        if other & 1:
            result ^= one
        one, other = one << 1, other >> 1
        if one >> 64:
            one ^= POLYNOMIAL
    return result


def power(exponent: int) -> int:
    """Of x."""
    result, square = 1, 2
    while exponent:
        if exponent & 1:
            result = product(result, square)
        square, exponent = product(square, square), exponent >> 1
    return result


def crc(data: bytes) -> int:
    """With bits in the order of XZ: the lowest one of a byte comes first."""
    reflected = int(f"{POLYNOMIAL & (1 << 64) - 1:064b}"[::-1], 2)
    value = (1 << 64) - 1
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (reflected if value & 1 else 0)
    return value ^ (1 << 64) - 1


def test_it_is_the_polynomial_of_xz() -> None:
    """By the published check value."""
    assert crc(b"123456789") == 0x995DC9BBDF1939FA


def test_odd_numbers_of_bits_are_found() -> None:
    """x + 1 divides it: it has an even number of terms."""
    assert POLYNOMIAL.bit_count() % 2 == 0


def test_two_bits_are_found_that_are_less_than_a_gigabyte_apart() -> None:
    """x^n + 1 is a multiple of it for no n below the order."""
    assert power(ORDER) == 1
    assert all(power(ORDER // prime) != 1 for prime in PRIMES)
    said = f"{ORDER:,} bits"
    assert said in (TOP / "docs/protection.md").read_text(), said
