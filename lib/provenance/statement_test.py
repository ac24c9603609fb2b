"""Statements are equal bytes for equal materials, are read again, and say what they are not."""

import json
from dataclasses import replace

import pytest

from lib.common.program import ToolError
from lib.provenance.statement import Material, Statement, parse_statement, unique_materials

CORE = Material("artifact core_lib_generic", {"artifactManifest": "1" * 64})
STATEMENT = Statement(
    "acme-1.0-py3-none-any.whl",
    "a" * 64,
    "//my:acme_wheel",
    "//my:provenance",
    {"//my:version": "1.0"},
    {"ROCM_TARGETS": "gfx942"},
    (CORE, Material("python", uri="pkg:generic/python@3.12.1")),
)


def test_a_statement_is_of_in_toto_and_of_slsa() -> None:
    document = STATEMENT.document()
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://slsa.dev/provenance/v1"
    assert document["subject"] == [{"name": "acme-1.0-py3-none-any.whl", "digest": {"sha256": "a" * 64}}]
    definition = document["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["settings"] == {"//my:version": "1.0"}
    assert definition["resolvedDependencies"] == [
        {"name": "artifact core_lib_generic", "digest": {"artifactManifest": "1" * 64}},
        {"name": "python", "uri": "pkg:generic/python@3.12.1"},
    ]


def test_it_is_read_again() -> None:
    assert parse_statement(json.dumps(STATEMENT.document()).encode(), "there") == STATEMENT


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", json.dumps(STATEMENT.document() | {"_type": "x"}).encode()])
def test_something_else_is_refused(content: bytes) -> None:
    with pytest.raises(ToolError, match=r"^there: is not a statement of these rules: .* Build it with sdk_provenance"):
        parse_statement(content, "there")


def test_an_option_of_bazel_is_no_setting() -> None:
    document = replace(STATEMENT, settings={"run_under": "/bin/evil"}).document()
    with pytest.raises(ToolError, match="run_under is no label"):
        parse_statement(json.dumps(document).encode(), "there")


def test_materials_are_sorted_and_unique() -> None:
    other = Material("a", {"sha256": "2" * 64})
    assert unique_materials([CORE, other, CORE]) == (other, CORE)
    with pytest.raises(ToolError, match=r"core_lib_generic: is a material twice, as artifactManifest 1+ and as uri"):
        unique_materials([CORE, Material(CORE.name, uri="uri")])


def test_an_archive_equals_the_folder_that_was_unpacked_from_it() -> None:
    archive = Material(CORE.name, {"artifactManifest": "1" * 64, "sha256": "3" * 64})
    assert CORE.equals(archive)
    assert not CORE.equals(Material(CORE.name, {"artifactManifest": "2" * 64}))
    assert not CORE.equals(Material(CORE.name, {"sha256": "3" * 64}))
