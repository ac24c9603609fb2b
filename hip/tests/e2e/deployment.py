"""Programs on another machine: archives of `hip_tar`, unpacked in another directory. A part of hip.tests.e2e.programs.

The programs run, load nothing of the build machine except the system's libraries, and say that there is no GPU.
"""

import posixpath
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path

from lib.elf.reader import read_elf
from tests.e2e.testing.builds import Workspace, built

#: Where the example's archive has its files.
DIRECTORY = "opt/acme"
#: Where a machine has its own libraries.
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/etc/ld.so.cache")
NO_GPU = "no ROCm-capable device is detected"


def unpacked(workspace: Workspace, target: str, to: Path) -> Path:
    """Build an archive and unpack it; assert that it names nothing of the build machine."""
    built(workspace.build(f"//:{target}"))
    archive = Path(workspace.info("bazel-bin"), f"{target}.tar")
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")
    here = [str(workspace.directory).encode(), workspace.info("output_base").encode()]
    content = archive.read_bytes()
    assert not [path for path in here if path in content], f"{archive} names a directory of the build machine"
    return to


def loaded(output: str) -> list[str]:
    """Return the libraries that a program loaded, by what the dynamic loader says (LD_DEBUG=libs)."""
    return sorted({posixpath.normpath(path) for path in re.findall(r"calling init: (\S+)", output)})


def check_runs(workspace: Workspace, given: Sequence[str], program: Path) -> list[str]:
    """Run a program where Bazel runs, which has the libc that ROCm needs; return the libraries that it loaded."""
    script = program.parent / "run.sh"
    script.write_text(f"exec env -i LD_DEBUG=libs {program} 2>&1\n", encoding="utf-8")
    result = workspace.run("run", *given, f"--run_under=sh {script}", "//:show")
    assert result.returncode == 0, result.stdout
    assert NO_GPU in result.stdout, result.stdout
    return loaded(result.stdout)


def check_deployment(workspace: Workspace, given: Sequence[str], elsewhere: Path) -> None:
    """Unpack the example's archives below `elsewhere`; run the programs with the options `given` of Bazel."""
    place = unpacked(workspace, "deploy", elsewhere / "bundled") / DIRECTORY
    for name in ("halves", "show"):
        libraries = check_runs(workspace, given, place / "bin" / name)
        strangers = [one for one in libraries if not one.startswith((f"{place}/", *SYSTEM))]
        assert strangers == [], f"{name} loads {strangers}"
        own = [one for one in libraries if one.startswith(f"{place}/lib/")]
        assert [one for one in own if "libamdhip64.so" in one], libraries
        print(f"{name} in another directory: {len(own)} libraries of the archive", flush=True)
    (program,) = (unpacked(workspace, "deploy_without_sdk", elsewhere / "without") / "bin").iterdir()
    with program.open("rb") as file:
        elf = read_elf(file, str(program))
    assert "/opt/rocm/lib" in (elf.rpath, elf.runpath), (elf.rpath, elf.runpath)
    assert not (elsewhere / "without/lib").exists()
    print("without the SDK: the program looks for it in /opt/rocm/lib", flush=True)
