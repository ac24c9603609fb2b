"""Tests of METADATA, WHEEL and entry_points.txt."""

import configparser
from dataclasses import replace
from typing import Any

import pytest
from packaging.metadata import Metadata

from lib.common.program import ToolError
from lib.wheel.metadata_writer import Project, core_metadata, entry_points_text, wheel_text

DOCUMENT: dict[str, Any] = {
    "distribution": "rocm-sdk-core",
    "version": "7.10.0.dev0",
    "summary": "ROCm – runtime",
    "requires_python": ">=3.9",
    "license_expression": "MIT OR Apache-2.0",
    "license_files": ["LICENSE", "NOTICE"],
    "requires": ["rocm-sdk-core==7.10.0.dev0", "x; python_version < '3.11'"],
    "classifiers": ["Programming Language :: Python :: 3"],
    "urls": {"Source": "https://example.org/s", "Documentation": "https://example.org/d"},
}
DESCRIPTION = "# Title\n\nText: with ï\n\n  - and\n"


def test_metadata_is_valid_and_complete() -> None:
    parsed = Metadata.from_email(core_metadata(Project.from_document(DOCUMENT), DESCRIPTION), validate=True)
    assert (parsed.metadata_version, parsed.name, str(parsed.version)) == ("2.4", "rocm-sdk-core", "7.10.0.dev0")
    assert (parsed.summary, str(parsed.requires_python)) == ("ROCm – runtime", ">=3.9")
    assert (parsed.license_expression, parsed.license_files) == ("MIT OR Apache-2.0", ["LICENSE", "NOTICE"])
    assert [str(requirement) for requirement in parsed.requires_dist or []] == [
        "rocm-sdk-core==7.10.0.dev0",
        'x; python_version < "3.11"',
    ]
    assert parsed.classifiers == ["Programming Language :: Python :: 3"]
    assert list(parsed.project_urls or {}) == ["Documentation", "Source"]
    assert (parsed.description, parsed.description_content_type) == (DESCRIPTION, "text/markdown")


def test_people_and_keywords() -> None:
    people = {"authors": ["Ann Author", "Bob <bob@example.org>", "c@example.org", "Dï"], "maintainers": ["ROCm"]}
    project = Project.from_document(DOCUMENT | people | {"keywords": ["GPU", "linear algebra"]})
    parsed = Metadata.from_email(core_metadata(project, ""), validate=True)
    assert (parsed.author, parsed.author_email) == ("Ann Author, Dï", "Bob <bob@example.org>, c@example.org")
    assert (parsed.maintainer, parsed.maintainer_email) == ("ROCm", None)
    assert parsed.keywords == ["GPU", "linear algebra"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(("authors", one, "authors name") for one in ("", " ", "A, B", "<a@b>", "A <a>", "a@b@c", "A\n<a@b>x")),
        ("maintainers", "A <a b@c>", "maintainers name"),
        *(("keywords", one, "keyword") for one in ("", " ", "a,b")),
    ],
)
def test_people_and_keywords_that_are_none(key: str, value: str, message: str) -> None:
    with pytest.raises(ToolError, match=f"^rocm-sdk-core: {message} .*; expected a"):
        Project.from_document(DOCUMENT | {key: [value]})


def test_dynamic_fields() -> None:
    project = Project.from_document(DOCUMENT | {"requires": [], "dynamic": ["Requires-Dist", "Provides-Extra"]})
    parsed = Metadata.from_email(core_metadata(project, ""), validate=True)
    assert parsed.dynamic == ["requires-dist", "provides-extra"]
    assert parsed.requires_dist is None


@pytest.mark.parametrize(
    ("key", "value", "name"), [("summary", "", "Summary"), ("requires", ["a\nb"], "Requires-Dist")]
)
def test_a_field_is_one_line(key: str, value: Any, name: str) -> None:
    project = replace(Project.from_document(DOCUMENT), **{key: value})
    with pytest.raises(ToolError, match=f"^rocm-sdk-core: {name} is '.*'; expected one line of text"):
        core_metadata(project, "")


def test_unknown_keys_and_missing_lists_are_fine() -> None:
    minimal = {key: DOCUMENT[key] for key in list(DOCUMENT)[:5]}
    assert Project.from_document(minimal | {"more": 1}).requires == ()


def test_wheel_expands_a_set_of_tags() -> None:
    assert wheel_text("py2.py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64") == (
        "Wheel-Version: 1.0\nGenerator: rules_rocm_python\nRoot-Is-Purelib: false\n"
        "Tag: py2-none-manylinux_2_17_x86_64\nTag: py2-none-manylinux2014_x86_64\n"
        "Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-manylinux2014_x86_64\n"
    )


@pytest.mark.parametrize("tag", ["py3-none-linux-x86_64", "py3-none", "py3-none-", "py3-none-a b", "py3-none-a\n"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(ToolError) as error:
        wheel_text(tag)
    assert str(error.value) == (
        f"tag {tag!r}: expected python-abi-platform as PEP 425 has it, like py3-none-linux_x86_64. "
        "Set `platform_tag` to a platform alone, like manylinux_2_28_x86_64"
    )


def test_entry_points() -> None:
    text = entry_points_text([("rocminfo", "m:rocminfo"), ("amdclang++", "m:amdclangxx")])
    parser = configparser.ConfigParser(delimiters="=")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    assert list(parser["console_scripts"].items()) == [("amdclang++", "m:amdclangxx"), ("rocminfo", "m:rocminfo")]


def test_a_dynamic_field_has_no_value() -> None:
    project = Project.from_document(DOCUMENT | {"dynamic": ["Requires-Dist"]})
    assert core_metadata(project, "") == core_metadata(replace(project, requires=()), "")
