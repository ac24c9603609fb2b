"""Tests of the sequential flow: it makes real wheels, with the files and search paths of the plan."""

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from lib.plan.model import Entry, Kind, Plan, Treatment
from tests.benchmark.sequential import make_packages

RPATH = ("$ORIGIN", "$ORIGIN/../../_core/lib")


def entry(path: str, treatment: Treatment, kind: Kind = Kind.FILE, **fields: object) -> Entry:
    """Make an entry of the artifact."""
    document = {
        "path": path,
        "kind": kind,
        "treatment": treatment,
        "reason": "",
        "source": f"a_lib_generic/stage/{path}",
    }
    return Entry.from_document(document | fields)


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    stage = tmp_path / "artifacts/a_lib_generic/stage"
    for folder in ("lib", "include"):
        (stage / folder).mkdir(parents=True)
    (stage / "lib/liba.so.1").write_bytes(Sample().build())
    (stage / "include/a.h").write_text("int a;\n")
    return tmp_path / "artifacts"


def wheel(folder: Path, distribution: str) -> Path:
    """Name a wheel, and write the metadata that a build leaves beside it."""
    path = folder / f"{distribution}-1.0-py3-none-linux_x86_64.whl"
    path.with_name(path.name + ".metadata").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    return path


def test_a_runtime_and_a_devel_package(artifacts: Path, tmp_path: Path) -> None:
    runtime = Plan(
        "core",
        "_core",
        per_target=False,
        entries=(
            entry("bin/a", Treatment.LAUNCHER, Kind.LINK, target="b"),
            entry("lib/gone", Treatment.DROP),
            entry("lib/liba.so", Treatment.ALIAS_OF, Kind.LINK, target="liba.so.1"),
            entry("lib/liba.so.1", Treatment.PATCH, mode="0755", rpath=list(RPATH)),
        ),
    )
    devel = Plan(
        "devel",
        "_devel",
        per_target=False,
        entries=(
            entry("include", Treatment.KEEP, Kind.DIRECTORY),
            entry("include/a.h", Treatment.KEEP),
            entry("lib/liba.so", Treatment.LINK_TO, Kind.LINK, target="liba.so.1"),
        ),
    )
    plans = {wheel(tmp_path, "a_core"): runtime, wheel(tmp_path, "a_devel"): devel}
    made: dict[str, zipfile.ZipFile] = {}
    cost = make_packages(plans, artifacts, tmp_path / "scratch")
    for path in sorted((tmp_path / "scratch/dist").iterdir()):
        made[path.name.split("-")[0]] = zipfile.ZipFile(path)
    assert cost.produced == sum(path.stat().st_size for path in (tmp_path / "scratch/dist").iterdir())
    names = [name for name in made["a_core"].namelist() if ".dist-info" not in name]
    assert sorted(names) == ["_core/bin/a", "_core/lib/liba.so.1"]
    library = Path(made["a_core"].extract("_core/lib/liba.so.1", tmp_path))
    printed = subprocess.run(["patchelf", "--print-rpath", library], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == ":".join(RPATH)
    with made["a_devel"].open("devel/_devel.tar") as file, tarfile.open(fileobj=file) as archive:
        assert sorted(archive.getnames()) == [
            "_devel",
            "_devel/include",
            "_devel/include/a.h",
            "_devel/lib",
            "_devel/lib/liba.so",
        ]
