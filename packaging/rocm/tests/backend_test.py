"""The sdist's build backend: what the wheel requires, and that pip and uv can run it with nothing but the sdist."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk, sdist_files

from lib.wheel.record import record_text

STEM = "rocm-7.10.0.dev0"


@pytest.fixture(params=["split", "family", "thin"])
def sdist(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(tmp_path / "sdist", request.param)


def unpack(directory: Path, layout: str) -> Path:
    for name, data in sdist_files(layout).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return directory


def call(sdist: Path, hook: str, output: Path, **variables: str) -> str:
    """Call a PEP 517 hook as a frontend does: in a process of its own, in the source directory."""
    output.mkdir(exist_ok=True)
    code = "import sys; sys.path[:0] = ['backend']; import rocm_build as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"
    command = [sys.executable, "-B", "-I", "-c", code, hook, str(output)]
    done = subprocess.run(command, cwd=sdist, env={"PATH": "/nowhere", **variables}, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return done.stdout.decode().strip().splitlines()[-1]


def build(sdist: Path, output: Path, **variables: str) -> zipfile.ZipFile:
    return zipfile.ZipFile(output / call(sdist, "build_wheel", output, **variables))


def requirements(wheel: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the requirements by extra."""
    found: dict[str, list[str]] = {"": []}
    metadata = read_metadata(wheel)
    for extra in metadata.get_all("Provides-Extra", []):
        found[extra] = []
    for line in metadata.get_all("Requires-Dist", []):
        requirement, _, marker = line.partition("; extra == ")
        found[marker.strip('"')].append(requirement)
    return found


def read_metadata(wheel: zipfile.ZipFile) -> Message:
    return message_from_bytes(wheel.read(f"{STEM}.dist-info/METADATA"))


def test_split_requirements(tmp_path: Path) -> None:
    wheel = build(unpack(tmp_path / "sdist", "split"), tmp_path / "out", ROCM_SDK_TARGET_FAMILY="gfx942")
    version, libraries = "==7.10.0.dev0", "rocm-sdk-libraries==7.10.0.dev0"
    gfx942, gfx1100 = f"rocm-sdk-device-gfx942{version}", f"rocm-sdk-device-gfx1100{version}"
    assert requirements(wheel) == {
        "": [f"rocm-sdk-core{version}"],
        "libraries": [libraries],
        "device": [libraries, gfx942],
        "device-gfx942": [libraries, gfx942],
        "device-gfx1100": [libraries, gfx1100],
        "device-all": [libraries, gfx1100, gfx942],
        "devel": [f"rocm-sdk-devel{version}"],
        "profiler": [f"rocm-profiler{version}"],
    }
    selected = json.loads(wheel.read("rocm_sdk/_selected.json"))
    assert selected["target"] == "gfx942"
    assert (selected["source"], selected["reason"]) == ("environment", "ROCM_SDK_TARGET_FAMILY is gfx942")
    assert selected["sources"][0]["source"] == "kfd"


def test_what_is_on_one_platform_alone_has_a_marker(tmp_path: Path) -> None:
    """The platform of this machine has the chosen target; a resolver reads the markers for other platforms as well."""
    sdist = unpack(tmp_path / "sdist", "split")
    path = sdist / "src/rocm_sdk/_distributions.json"
    known = json.loads(path.read_text())
    roles = ["core", "device", "devel", "libraries"]
    on_windows = {"packages": roles, "targets": ["gfx1100"], "default_target": "gfx1100"}
    on_linux = {"packages": sorted(known["packages"]), "targets": ["gfx1100", "gfx942"], "default_target": "gfx942"}
    path.write_text(json.dumps({**known, "platforms": {"linux": on_linux, "win32": on_windows}}))
    wheel = build(sdist, tmp_path / "out")
    assert json.loads(wheel.read("rocm_sdk/_selected.json"))["target"] == "gfx942"
    marked = [line for line in read_metadata(wheel).get_all("Requires-Dist", []) if "sys_platform" in line]
    on_linux_for = '==7.10.0.dev0; sys_platform == "linux" and extra == '
    assert sorted(marked) == [
        f'rocm-profiler{on_linux_for}"profiler"',
        f'rocm-sdk-device-gfx942{on_linux_for}"device"',
        f'rocm-sdk-device-gfx942{on_linux_for}"device-all"',
        f'rocm-sdk-device-gfx942{on_linux_for}"device-gfx942"',
    ]


def test_a_platform_without_targets_has_none_of_its_own(tmp_path: Path) -> None:
    sdist = unpack(tmp_path / "sdist", "split")
    path = sdist / "src/rocm_sdk/_distributions.json"
    known = json.loads(path.read_text())
    here = {"packages": sorted(known["packages"]), "targets": [], "default_target": ""}
    there = {**here, "targets": ["gfx1100", "gfx942"], "default_target": "gfx942"}
    path.write_text(json.dumps({**known, "platforms": {"linux": here, "win32": there}}))
    metadata = read_metadata(build(sdist, tmp_path / "out"))
    assert "device" not in metadata.get_all("Provides-Extra", [])
    of_targets = [line for line in metadata.get_all("Requires-Dist", []) if "rocm-sdk-device-" in line]
    assert len(of_targets) == 4
    assert all('==7.10.0.dev0; sys_platform == "win32" and extra == "device-' in line for line in of_targets)


def test_family_requirements(tmp_path: Path) -> None:
    wheel = build(unpack(tmp_path / "sdist", "family"), tmp_path / "out", ROCM_SDK_TARGET_FAMILY="gfx942")
    chosen, other = "rocm-sdk-libraries-gfx94X-dcgpu==7.10.0.dev0", "rocm-sdk-libraries-gfx110X-all==7.10.0.dev0"
    found = requirements(wheel)
    each = ["libraries", "libraries-all", "libraries-gfx110x-all", "libraries-gfx94x-dcgpu"]
    assert sorted(found) == ["", "devel", *each, "profiler"]
    assert found["libraries-all"] == [other, chosen]
    assert found["libraries"] == found["libraries-gfx94x-dcgpu"] == [chosen]
    assert found["libraries-gfx110x-all"] == [other]


def test_thin_requirements(tmp_path: Path) -> None:
    wheel = build(unpack(tmp_path / "sdist", "thin"), tmp_path / "out", ROCM_SDK_TARGET_FAMILY="gfx90a:xnack+")
    gfx90a, gfx1030 = "rocm-sdk-libraries-gfx90a==7.10.0.dev0", "rocm-sdk-libraries-gfx1030==7.10.0.dev0"
    assert requirements(wheel) == {
        "": ["rocm-sdk-core==7.10.0.dev0"],
        "devel": ["rocm-sdk-devel==7.10.0.dev0"],
        "libraries": [gfx90a],
        "libraries-all": [gfx90a, gfx1030],
        "libraries-gfx90a": [gfx90a],
        "libraries-gfx1030": [gfx1030],
        "profiler": ["rocm-profiler==7.10.0.dev0"],
    }
    selected = json.loads(wheel.read("rocm_sdk/_selected.json"))
    assert selected["reason"] == "ROCM_SDK_TARGET_FAMILY is gfx90a:xnack+, served by gfx90a"


def test_the_rest_of_the_metadata_is_that_of_the_sdist(sdist: Path, tmp_path: Path) -> None:
    wheel = build(sdist, tmp_path / "out")
    metadata = read_metadata(wheel)
    assert metadata.get_payload() == "# ROCm\n"
    assert (metadata["Name"], metadata["Version"]) == ("rocm", "7.10.0.dev0")
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Dynamic"] is None
    assert wheel.read(f"{STEM}.dist-info/licenses/LICENSE") == b"A licence\n"


def test_record_is_what_the_build_would_write(sdist: Path, tmp_path: Path) -> None:
    """The backend imports nothing of the build, and so has a copy of the writer."""
    wheel = build(sdist, tmp_path / "out")
    *names, record = wheel.namelist()
    files = [(name, hashlib.sha256(wheel.read(name)).hexdigest(), wheel.getinfo(name).file_size) for name in names]
    assert record == f"{STEM}.dist-info/RECORD"
    assert wheel.read(record).decode() == record_text(files, record)
    assert "rocm_sdk/py.typed" in wheel.namelist()
    assert not [name for name in wheel.namelist() if "pycache" in name or "_test" in name]


def test_prepared_metadata_is_that_of_the_wheel(sdist: Path, tmp_path: Path) -> None:
    name = call(sdist, "prepare_metadata_for_build_wheel", tmp_path / "meta")
    wheel = build(sdist, tmp_path / "out")
    paths = [path for path in (tmp_path / "meta").rglob("*") if path.is_file()]
    files = {path.relative_to(tmp_path / "meta").as_posix(): path.read_bytes() for path in paths}
    names = [name for name in wheel.namelist() if "dist-info/" in name and not name.endswith("RECORD")]
    assert name == f"{STEM}.dist-info"
    assert files == {name: wheel.read(name) for name in names}


@pytest.mark.parametrize("hook", ["build_wheel", "build_sdist"])
def test_the_same_sources_give_the_same_bytes(sdist: Path, tmp_path: Path, hook: str) -> None:
    first = (tmp_path / "1") / call(sdist, hook, tmp_path / "1")
    for path in sdist.rglob("*"):
        path.touch()
    second = (tmp_path / "2") / call(sdist, hook, tmp_path / "2")
    assert first.read_bytes() == second.read_bytes()
    assert first.name == second.name


def test_a_rebuilt_sdist_installs(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    name = call(unpack(tmp_path / "sdist", "split"), "build_sdist", tmp_path / "out")
    environment.install(split_sdk.index, str(tmp_path / "out" / name))
    assert environment.rocm_sdk("version") == "7.10.0.dev0\n"


def test_an_unknown_target_stops_the_installation(any_environment: Environment, split_sdk: FakeSdk) -> None:
    output = any_environment.install(split_sdk.index, "--pre", "rocm", check=False, ROCM_SDK_TARGET_FAMILY="gfx1200")
    text = " ".join(output.split())
    assert "ROCM_SDK_TARGET_FAMILY=gfx1200: there is no package for this target. Available: gfx1100, gfx942." in text
    assert not (any_environment.site / "rocm_sdk").exists()


def test_a_choice_that_is_no_longer_right_is_noticed(any_environment: Environment, split_sdk: FakeSdk) -> None:
    any_environment.install(split_sdk.index, "rocm[device]", ROCM_SDK_TARGET_FAMILY="gfx942")
    assert (any_environment.site / "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co").exists()
    lines = any_environment.rocm_sdk("targets", "--why").splitlines()
    assert lines == [
        "available: gfx1100 gfx942",
        "selected:  gfx942 (when rocm was installed: ROCM_SDK_TARGET_FAMILY is gfx942)",
    ]
    lines = any_environment.rocm_sdk("targets", "--why", ROCM_SDK_TARGET_FAMILY="gfx1100").splitlines()
    assert lines[2:] == ["in use:    gfx1100 (ROCM_SDK_TARGET_FAMILY is gfx1100)"]
    wrong = any_environment.rocm_sdk("targets", "--why", check=False, ROCM_SDK_TARGET_FAMILY="gfx1200")
    assert "ROCM_SDK_TARGET_FAMILY=gfx1200: there is no package for this target." in wrong
    data = json.loads(any_environment.rocm_sdk("targets", "--detect", "--json", ROCM_SDK_TARGET_FAMILY="gfx1100"))
    assert (data["selected"]["target"], data["detected"]["target"]) == ("gfx942", "gfx1100")
    assert data["detected"]["environment"] == {"ROCM_SDK_TARGET_FAMILY": "gfx1100"}
    assert data["detected"]["sources"][0]["source"] == "kfd"
    report = any_environment.rocm_sdk("test", "-k", "target", check=False, ROCM_SDK_TARGET_FAMILY="gfx1100")
    assert "failed  target: rocm was installed for gfx942 (ROCM_SDK_TARGET_FAMILY is gfx942), but here" in report
    assert report.endswith("0 passed, 1 failed, 0 skipped\n")
    any_environment.install(split_sdk.index, "rocm-sdk-device-gfx1100")
    assert "1 passed" in any_environment.rocm_sdk("test", "-k", "target", ROCM_SDK_TARGET_FAMILY="gfx1100")


def test_versions_that_disagree_are_refused(tmp_path: Path) -> None:
    sdist = unpack(tmp_path / "sdist", "split")
    (sdist / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: rocm\nVersion: 1\n")
    with pytest.raises(RuntimeError, match=r"PKG-INFO says version \['1'\], its data 7\.10\.0\.dev0"):
        call(sdist, "build_wheel", tmp_path / "out")
