"""Tests of the tool: the document as other programs read it. Its schema is checked by tests/e2e/validators."""

import json
from pathlib import Path
from typing import Any

import pytest

from develop.testing.artifacts import artifact, file
from lib.common.program import ToolError
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Definition
from tools.actions.plan.tool import make_plan
from tools.actions.sbom.tool import digest, main, read_origins

PROJECT = {
    "distribution": "rocm-sdk-libraries",
    "version": "7.10.0rc2",
    "summary": "ROCm: libraries",
    "requires_python": ">=3.9",
    "license_expression": "MIT AND Apache-2.0 WITH LLVM-exception",
    "requires": ["rocm-sdk-core==7.10.0rc2", "numpy>=2,==2.*; python_version < '3.11'"],
    "urls": {"Source": "https://example.org/s", "Homepage": "https://example.org/h"},
}
CORE = Definition("core", "runtime", "_core")
PATHS = ("lib/a", "share/doc/hip/copyright", "lib/b")
FILES = {path: Packed(path, "0644", 0, 5, 10, 0, f"{number}" * 64) for number, path in enumerate(PATHS)}


def sbom(directory: Path, *options: str) -> str:
    """Run the tool on a package of two artifacts; return what it wrote."""
    directory.mkdir(exist_ok=True)
    one, other = (file(path) for path in PATHS[:2]), file(PATHS[2])
    plan = make_plan(CORE, [artifact("core-hip_lib_generic", *one), artifact("blas_lib_gfx942:xnack+", other)], [])
    (directory / "plan").write_text(json.dumps(plan.to_document()))
    (directory / "project").write_text(json.dumps(PROJECT))
    for number, files in enumerate((list(FILES.values())[:2], list(FILES.values())[2:])):
        (directory / f"index{number}").write_text(json.dumps(SegmentIndex(tuple(files), {}).to_document()))
    arguments = [f"--project={directory}/project", f"--plan={directory}/plan", f"--output={directory}/sbom"]
    arguments += [f"--index={directory}/index{number}" for number in (0, 1)]
    arguments += ["--label=//:core_wheel", "--license-pattern=share/doc/**/copyright", *options]
    assert main(arguments) == 0
    return (directory / "sbom").read_text(encoding="utf-8")


def properties(component: dict[str, Any]) -> dict[str, list[str]]:
    """Return a component's properties by name, without our namespace."""
    found: dict[str, list[str]] = {}
    for one in component["properties"]:
        found.setdefault(one["name"].removeprefix("rules_rocm_python:artifact:"), []).append(one["value"])
    return found


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    found: dict[str, Any] = json.loads(sbom(tmp_path))
    return found


def test_the_distribution_is_the_main_component(document: dict[str, Any]) -> None:
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    main_component = document["metadata"]["component"]
    assert (main_component["name"], main_component["version"]) == ("rocm-sdk-libraries", "7.10.0rc2")
    assert main_component["purl"] == "pkg:pypi/rocm-sdk-libraries@7.10.0rc2"
    assert main_component["licenses"] == [
        {"acknowledgement": "declared", "expression": "MIT AND Apache-2.0 WITH LLVM-exception"}
    ]
    assert [(one["type"], one["url"]) for one in main_component["externalReferences"]] == [
        ("vcs", "https://example.org/s"),
        ("website", "https://example.org/h"),
    ]
    assert document["metadata"]["timestamp"] == "1980-01-01T00:00:00+00:00"
    assert [one["name"] for one in document["metadata"]["tools"]["components"]] == ["rules_rocm_python"]


def test_artifacts_with_their_hashes(document: dict[str, Any]) -> None:
    components = {one["bom-ref"]: one for one in document["components"]}
    hip = components["artifact:core-hip_lib_generic"]
    expected = digest(FILES[path] for path in PATHS[:2])
    assert hip["hashes"] == [{"alg": "SHA-256", "content": expected}]
    assert properties(hip) == {
        "bytes": ["20"],
        "component": ["lib"],
        "files": ["2"],
        "hash-of": ["packed files"],
        "license-file": ["share/doc/hip/copyright"],
        "name": ["core-hip"],
        "packed-sha256": [expected],
        "target": ["generic"],
    }
    assert properties(components["artifact:blas_lib_gfx942:xnack+"])["target"] == ["gfx942:xnack+"]


def test_required_distributions_and_the_graph(document: dict[str, Any]) -> None:
    components = {one["bom-ref"]: one for one in document["components"]}
    core, numpy = components["pkg:pypi/rocm-sdk-core@7.10.0rc2"], components["pkg:pypi/numpy"]
    assert (core["name"], core["version"], core["purl"]) == ("rocm-sdk-core", "7.10.0rc2", core["bom-ref"])
    assert (numpy["name"], numpy.get("version")) == ("numpy", None)
    graph = {one["ref"]: one.get("dependsOn", []) for one in document["dependencies"]}
    assert sorted(graph.pop("pkg:pypi/rocm-sdk-libraries@7.10.0rc2")) == sorted(components)
    assert graph == {name: [] for name in components}


def test_the_hash_of_an_archive_comes_first(tmp_path: Path) -> None:
    document = json.loads(sbom(tmp_path, f"--archive=core-hip_lib_generic={'ab' * 32}"))
    hip = next(one for one in document["components"] if one["name"] == "core-hip_lib_generic")
    assert hip["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert properties(hip)["hash-of"] == ["archive"]
    assert properties(hip)["packed-sha256"] == [digest(FILES[path] for path in PATHS[:2])]


def test_where_artifacts_come_from(tmp_path: Path) -> None:
    """Of artifacts that the file does not name nothing is said, and a name of no artifact says nothing."""
    hip = {"version": "{version}", "purl": "pkg:github/rocm/clr@rocm-{version}", "supplier": "AMD", "license": "MIT"}
    (tmp_path / "origins").write_text(json.dumps({"core-hip": hip, "gone": {}}))
    text = sbom(tmp_path, f"--origins={tmp_path}/origins")
    components = {one["name"]: one for one in json.loads(text)["components"]}
    found = components["core-hip_lib_generic"]
    assert (found["version"], found["purl"]) == ("7.10.0rc2", "pkg:github/rocm/clr@rocm-7.10.0rc2")
    assert (found["supplier"], found["licenses"]) == (
        {"name": "AMD"},
        [{"acknowledgement": "declared", "expression": "MIT"}],
    )
    assert not components["blas_lib_gfx942:xnack+"].keys() & {"licenses", *hip}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"purl": "github/rocm"}, "core-hip: purl is 'github/rocm': "),
        ({"license": "BSD"}, "core-hip: license is 'BSD'; expected an SPDX expression. Correct it"),
        ({"licence": "MIT"}, "expected an object of strings, with version, purl, supplier, license. Correct it"),
        ({"version": 7}, "{'version': 7}; expected an object of strings"),
        ("AMD", "'AMD'; expected an object of strings"),
    ],
)
def test_what_is_wrong_in_the_origins_is_named(tmp_path: Path, values: object, said: str) -> None:
    (tmp_path / "origins").write_text(json.dumps({"core-hip": values}))
    with pytest.raises(ToolError) as error:
        read_origins(str(tmp_path / "origins"), "1.0")
    assert said in str(error.value)


def test_the_same_bytes_again_but_for_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = sbom(tmp_path / "a")
    assert sbom(tmp_path / "b") == first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    later = sbom(tmp_path / "c")
    assert later == first.replace("1980-01-01T00:00:00+00:00", "2023-11-14T22:13:20+00:00") != first


def test_the_serial_number_is_that_of_the_content(document: dict[str, Any], tmp_path: Path) -> None:
    FILES["lib/a"], saved = Packed("lib/a", "0644", 0, 5, 10, 0, "f" * 64), FILES["lib/a"]
    try:
        changed = json.loads(sbom(tmp_path))
    finally:
        FILES["lib/a"] = saved
    assert changed["serialNumber"].startswith("urn:uuid:")
    assert changed["serialNumber"] != document["serialNumber"]
