"""Secrets and build paths are found wherever they lie, and what looks alike is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wheels.verify.settings import BUILD_PATHS
from wheels.verify.strings import SECRETS, Search, Strings, fixed_prefix

TOKEN = "gh" + "p_" + "a1" * 18  # In two parts, so that no scanner takes this file for one with a secret.
SAMPLES = {
    "private key": "-----BEGIN RSA PRIV" + "ATE KEY-----\nMIIEowIBAAKCAQEA",
    "AWS access key": "AKI" + "AIOSFODNN7EXAMPLE",
    "GitHub token": TOKEN,
    "GitLab token": "glp" + "at-abcdefghij0123456789",
    "PyPI token": "pypi" + "-AgE" + "x" * 60,
    "Hugging Face token": "hf" + "_" + "aB" * 17,
    "Slack token": "xox" + "b-1234567890-1234567890-" + "a" * 24,
    "URL with password": "https://user:pass" + "word@example.org/x",
}


def search(*chunks: bytes) -> Strings:
    found = Search(BUILD_PATHS)
    for chunk in chunks:
        found.feed(chunk)
    return found.finish()


@pytest.mark.parametrize(("kind", "text"), SAMPLES.items())
def test_each_kind_of_secret_is_found(kind: str, text: str) -> None:
    (match,) = search(b"\0\1" + text.encode() + b"\0").secrets
    assert match.kind == kind
    assert match.offset == 2 + text.find("://") if "://" in text else match.offset == 2


def test_there_is_a_sample_of_every_kind() -> None:
    assert {kind for kind, *_ in SECRETS} == SAMPLES.keys()


LOOKS_ALIKE = (
    "Highs_getBasisInverseRowSparseAndSolveLinear",
    "ghp_" + "a" * 36,
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w",
    "https://example.org:8080/a@b",
    "https://user:{password}@host.org",
    "x" + TOKEN,
    "-----BEGIN PRIVATE KEY-----\0",
)


@pytest.mark.parametrize("text", LOOKS_ALIKE)
def test_what_only_looks_like_a_secret_is_none(text: str) -> None:
    assert search(text.encode()).secrets == ()


@settings(deadline=None)
@given(st.integers(0, 120), st.integers(1, 60))
def test_where_the_chunks_end_does_not_matter(cut: int, size: int) -> None:
    data = b"\0" * 10 + TOKEN.encode() + b"\0/home/someone/src/x.c\0libfoo.so.1\0" + b"end" * 5
    whole = search(data)
    pieces = [data[:cut], *(data[at : at + size] for at in range(cut, len(data), size))]
    assert search(*(piece for piece in pieces if piece)) == whole
    assert [match.text for match in whole.build_paths] == ["/home/someone/"]


@pytest.mark.parametrize("text", ["x/home/a/", "$/home/a/", "/homes/a/", "../tmp/a/", "/home/"])
def test_a_part_of_another_path_is_no_build_path(text: str) -> None:
    assert search(b" " + text.encode()).build_paths == ()


def test_matches_are_bounded() -> None:
    found = search(*(b"/home/a/\0" * 1000 for _ in range(3)))
    assert len(found.build_paths) == 20


@pytest.mark.parametrize(
    ("expression", "prefix"), [("/home/[a-z]", "/home/"), ("/builds?/x", "/build"), ("/a", "/a"), ("/ab*", "/a")]
)
def test_the_text_that_is_searched_for_is_fixed(expression: str, prefix: str) -> None:
    assert fixed_prefix(expression) == prefix
