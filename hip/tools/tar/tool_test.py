"""Tests of archives of programs: where files lie, where programs look for libraries, and what the machine must have."""

import io
import tarfile
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from hip.tools.tar.tool import main
from lib.elf.reader import read_elf

SDK = "../rocm/prefix"
BUILD = "$ORIGIN/_solib_k8/_U_S_Cl"
#: Short path in runfiles -> content.
FILES: dict[str, "bytes | Sample"] = {
    f"{SDK}/lib/libamdhip64.so.7": Sample(
        soname="libamdhip64.so.7", needed=("libcomgr.so.3", "libc.so.6"), rpath="$ORIGIN/llvm/lib"
    ),
    f"{SDK}/lib/llvm/lib/libcomgr.so.3": Sample(soname="libcomgr.so.3"),
    f"{SDK}/lib/rocblas/library/kernels.co": b"kernels",
    # Links to libraries of the SDK, of which some are in runfiles themselves.
    "_solib_k8/rocm/prefix/lib/libamdhip64.so.7": Sample(soname="libamdhip64.so.7"),
    "_solib_k8/rocm/prefix/lib/libhsa-runtime64.so.1": Sample(soname="libhsa-runtime64.so.1"),
    "_solib_k8/_U_S_Cl/libown.so": Sample(soname="libown.so", needed=("libz.so.1",), runpath=BUILD),
    "app/data.txt": b"data",
    "../other+/run.sh": b"#!/bin/sh\n",
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a program and its runfiles into a directory, and go there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    program = Sample(
        soname=None, needed=("libamdhip64.so.7", "libown.so"), runpath=BUILD, interpreter="/lib64/ld.so", slack=256
    )
    for name, content in {"app/show": program, **FILES}.items():
        path = tmp_path / "bin" / name.replace("../", "external/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.build())
        path.chmod(0o555)
    return tmp_path


def make(*options: str) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Make an archive; return its members by name."""
    runfiles = [f"--runfile=show\t{name}\tbin/{name.replace('../', 'external/')}" for name in ["app/show", *FILES]]
    given = ["--label=//app:tar", "--output=out.tar", "--needed=needed.txt", f"--sdk={SDK}", "--workspace=_main"]
    assert main([*given, "--program=bin/app/show", *runfiles, *options]) == 0
    with tarfile.open("out.tar") as tar:
        return {info.name: (info, tar.extractfile(info).read()) for info in tar}  # type: ignore[union-attr]


def search_path(content: bytes) -> str | None:
    """Return where a file looks for libraries."""
    elf = read_elf(io.BytesIO(content), "member")
    return elf.rpath if elf.runpath is None else elf.runpath


def test_all_that_a_program_needs() -> None:
    found = make("--directory=opt/acme")
    places = [name.removeprefix("opt/acme/") for name in found]
    assert places == [
        "bin/show",
        "bin/show.runfiles/_main/app/data.txt",
        "bin/show.runfiles/other+/run.sh",
        "lib/libamdhip64.so.7",
        "lib/libhsa-runtime64.so.1",
        "lib/libown.so",
        "lib/llvm/lib/libcomgr.so.3",
        "lib/rocblas/library/kernels.co",
    ]
    paths = {
        name.rpartition("/")[2]: search_path(content)
        for name, (_, content) in found.items()
        if ".so" in name or name.endswith("show")
    }
    assert paths == {
        "show": "$ORIGIN/../lib:$ORIGIN/../lib/llvm/lib",
        "libown.so": "$ORIGIN:$ORIGIN/llvm/lib",
        "libamdhip64.so.7": "$ORIGIN/llvm/lib",
        "libcomgr.so.3": None,
        "libhsa-runtime64.so.1": None,
    }
    assert Path("needed.txt").read_text(encoding="utf-8") == "libc.so.6 lib/libamdhip64.so.7\nlibz.so.1 lib/libown.so\n"


def test_members_are_alike_on_every_machine() -> None:
    infos = [info for info, _ in make().values()]
    assert {(info.mtime, info.uid, info.gid, info.uname, info.gname) for info in infos} == {(315532800, 0, 0, "", "")}
    modes = {info.name: info.mode for info in infos}
    assert modes["bin/show"] == modes["bin/show.runfiles/other+/run.sh"] == 0o755
    assert modes["bin/show.runfiles/_main/app/data.txt"] == 0o644


def test_a_machine_that_has_rocm() -> None:
    found = make("--rpath=/opt/rocm/lib")
    assert [name for name in found if name.startswith("lib/")] == ["lib/libown.so"]
    assert search_path(found["bin/show"][1]) == "$ORIGIN/../lib:/opt/rocm/lib"
    assert "libamdhip64.so.7 bin/show\n" in Path("needed.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--directory=/opt"], "directory is '/opt'; expected a relative one such as opt/acme"),
        (["--program=bin/other/show"], "bin/app/show and bin/other/show would both be bin/show; expected programs and"),
        (["--rpath=a:b"], "a search path entry must not be empty or contain a colon or NUL: 'a:b'"),
    ],
)
def test_refused(options: list[str], message: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "bin/other").mkdir()
    (root / "bin/other/show").write_bytes(Sample().build())
    with pytest.raises(AssertionError):
        make(*options)
    assert f"ERROR: //app:tar: {message}" in capsys.readouterr().err


def test_a_damaged_library(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "bin/external/rocm/prefix/lib/libamdhip64.so.7"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(AssertionError):
        make()
    assert "ERROR: //app:tar: bin/external/rocm/prefix/lib/libamdhip64.so.7" in capsys.readouterr().err
