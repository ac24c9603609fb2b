"""Sizes as people read them."""

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_text(size: int) -> str:
    """Return a number of bytes with three digits that count and a decimal unit: 1.24 GB, 512 bytes."""
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {UNITS[unit]}"


def range_text(least: int, most: int) -> str:
    """Return sizes between two numbers of bytes, as one where they read the same."""
    low, high = size_text(least), size_text(most)
    return low if low == high else f"{low} to {high}"
