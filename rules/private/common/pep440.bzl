"""PEP 440: what a version looks like in its normal form ("Normalization", and the grammar of Appendix B).

File names are made of versions while Bazel analyses, so a wrong one is refused then. The tools ask the library
`packaging` once more; a test compares the two.
"""

visibility(["//rules/..."])

_SEPARATORS = "-_."
_LETTERS_AND_DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789"

# Spellings and the normal ones. Of two that begin alike the longer comes first.
_PRE_RELEASES = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "rc": "rc", "a": "a", "b": "b", "c": "rc"}
_POST_RELEASES = {"post": ".post", "rev": ".post", "r": ".post"}
_DEV_RELEASES = {"dev": ".dev"}

def _digits(text):
    """Splits `text` behind the digits that it begins with."""
    rest = text.lstrip("0123456789")
    return text[:len(text) - len(rest)], rest

def _number(digits):
    return digits.lstrip("0") or "0"

def _behind_separator(text):
    return text[1:] if text and text[0] in _SEPARATORS else text

def _epoch(text):
    digits, rest = _digits(text)
    if not digits or not rest.startswith("!"):
        return "", text
    return ("" if _number(digits) == "0" else _number(digits) + "!"), rest[1:]

def _release(text):
    digits, rest = _digits(text)
    numbers = [_number(digits)] if digits else []
    for _ in range(len(rest)):
        if not digits or not rest.startswith(".") or not rest[1:2].isdigit():
            break
        digits, rest = _digits(rest[1:])
        numbers.append(_number(digits))
    return ".".join(numbers), rest

def _labelled(text, spellings):
    """Reads one of the spellings and its number; separators around the spelling, and the number, may be missing."""
    behind = _behind_separator(text)
    for spelling, normal in spellings.items():
        if behind.startswith(spelling):
            digits, rest = _digits(_behind_separator(behind[len(spelling):]))
            return normal + _number(digits), rest
    return "", text

def _post_release(text):
    if text.startswith("-") and text[1:2].isdigit():
        digits, rest = _digits(text[1:])
        return ".post" + _number(digits), rest
    return _labelled(text, _POST_RELEASES)

def _local(text):
    """Reads the local version identifier, which is all that is left."""
    if not text.startswith("+"):
        return "", text
    segments = text[1:].replace("-", ".").replace("_", ".").split(".")
    for segment in segments:
        if not segment or segment.strip(_LETTERS_AND_DIGITS):
            return "", text
    return "+" + ".".join([_number(segment) if segment.isdigit() else segment for segment in segments]), ""

def normal_form(version):
    """Returns a version in the normal form of PEP 440.

    Args:
        version: a string.

    Returns:
        the normal form, or None if the string is not a version.
    """
    rest = version.strip().lower()
    rest = rest.removeprefix("v")
    epoch, rest = _epoch(rest)
    release, rest = _release(rest)
    if not release:
        return None
    pre, rest = _labelled(rest, _PRE_RELEASES)
    post, rest = _post_release(rest)
    dev, rest = _labelled(rest, _DEV_RELEASES)
    local, rest = _local(rest)
    return None if rest else epoch + release + pre + post + dev + local

def check_version(version, where, flag):
    """Fails unless a version is one of PEP 440, in normal form.

    Args:
        version: string.
        where: string: what the error names.
        flag: string: the flag that sets the version, without `--`.
    """
    normal = normal_form(version)
    if normal == None:
        fail("{}: '{}' is not a version that PEP 440 knows; expected a version such as 7.10.0, 7.10.0rc2 or 7.10.0.dev0. Set --{}".format(where, version, flag))
    if normal != version:
        fail("{}: '{}' is not in normal form; expected '{}'. Set --{}={}".format(where, version, normal, flag, normal))
