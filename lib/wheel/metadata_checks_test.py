"""Tests of what is refused as metadata."""

from typing import Any

import pytest

from lib.common.program import ToolError
from lib.wheel.metadata_writer import Project

GOOD: dict[str, Any] = {
    "distribution": "rocm-sdk-core",
    "version": "7.10.0.dev0",
    "summary": "S",
    "requires_python": ">=3.9",
    "license_expression": "MIT AND Apache-2.0 WITH LLVM-exception AND (GPL-2.0-only OR BSD-3-Clause)",
    "requires": ["rocm-sdk-core==7.10.0.dev0", "x[extra]>=1; python_version < '3.11'"],
    "classifiers": ["Programming Language :: Python :: 3", "Environment :: GPU"],
    "urls": {"Source": "https://example.org/s"},
}


def refused(**changed: Any) -> str:
    """Return the error about a document that is good except what is given."""
    with pytest.raises(ToolError) as raised:
        Project.from_document(GOOD | changed)
    return str(raised.value)


UNKNOWN = "is not a version that PEP 440 knows; expected one like 7.10.0, 7.10.0rc2 or 7.10.0.dev0. Set `version`"


@pytest.mark.parametrize(
    ("version", "error"),
    [
        ("7.10.0-dev0", "'7.10.0-dev0' is not in normal form; expected '7.10.0.dev0'. Set `version` to that"),
        ("v7.10.0", "'v7.10.0' is not in normal form; expected '7.10.0'. Set `version` to that"),
        ("7.10.00", "'7.10.00' is not in normal form; expected '7.10.0'. Set `version` to that"),
        ("banana", f"'banana' {UNKNOWN}"),
        ("", f"'' {UNKNOWN}"),
    ],
)
def test_versions_that_are_refused(version: str, error: str) -> None:
    assert refused(version=version) == f"rocm-sdk-core: {error}"


@pytest.mark.parametrize("expression", ["", "MIT License", "BSD", "MIT, Apache-2.0", "MIT AND", "MIT WITH MIT", "(MIT"])
def test_what_is_no_licence_expression(expression: str) -> None:
    assert refused(license_expression=expression) == (
        f"rocm-sdk-core: license_expression {expression!r} is not an SPDX expression; expected identifiers of the SPDX "
        "licence list, joined by AND, OR and WITH, like 'MIT AND Apache-2.0'"
    )


def test_a_licence_expression_in_another_case() -> None:
    assert refused(license_expression="mit and apache-2.0") == (
        "rocm-sdk-core: license_expression 'mit and apache-2.0' is not in normal form; expected 'MIT AND Apache-2.0'"
    )


def test_requires_python() -> None:
    assert refused(requires_python="3.9+") == (
        "rocm-sdk-core: requires_python '3.9+'; expected a version specifier, like >=3.9"
    )


def test_a_requirement() -> None:
    assert refused(requires=["a==1", "a b"]).startswith("rocm-sdk-core: requires 'a b'; expected a requirement: ")


@pytest.mark.parametrize("classifier", ["Beta", "", ":: x", "Environment::GPU"])
def test_what_is_no_classifier(classifier: str) -> None:
    assert refused(classifiers=[classifier]) == (
        f"rocm-sdk-core: classifier {classifier!r}; expected 'Topic :: Subtopic', as PyPI lists them"
    )


def test_a_classifier_about_the_licence() -> None:
    assert refused(classifiers=["License :: OSI Approved :: MIT License"]) == (
        "rocm-sdk-core: classifier 'License :: OSI Approved :: MIT License': license_expression has it already, and "
        "indexes refuse both. Expected the licence in license_expression alone: remove the classifier"
    )


@pytest.mark.parametrize(
    ("label", "url"), [("a" * 33, "https://x"), ("", "https://x"), ("a,b", "https://x"), ("a", "x"), ("a", "ftp://x")]
)
def test_urls(label: str, url: str) -> None:
    assert refused(urls={label: url}) == (
        f"rocm-sdk-core: urls name {label!r}: {url!r}; expected a label of at most 32 characters without a comma, and "
        "an address that begins with https://"
    )
