"""Packages two SDKs that others built, as their release engineers would: CUDA's libraries, and Debian's ffmpeg.

    python3 -m tests.e2e.foreign_sdks.make DIRECTORY

It fetches NVIDIA's wheels for Linux and Windows, lays their libraries out as artifacts, and builds the project beside
this file, which is copied out of this workspace. `DIRECTORY/made` then has a folder for each SDK, with what a build
gives its users, and `DIRECTORY/said` what Bazel printed. `.ci/run foreign-sdks` calls this and `foreign_sdks_test.py`.
"""

import shutil
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.builds import Build, Workspace, built, copy_out, remove_output_base
from tests.e2e.windows.machine import fetch_wheels

HERE = Path(__file__).parent
SDKS = ("compute", "media")
#: Platforms of pip -> folders of the project's artifacts.
PLATFORMS = {"manylinux2014_x86_64": "linux", "win_amd64": "windows"}


@dataclass(frozen=True)
class Source:
    """What an artifact is made from."""

    wheel: str
    #: Libraries of the wheel; `*` stands for any part of a name.
    libraries: tuple[str, ...]


#: By artifact.
SOURCES = {
    "cudart": Source("nvidia_cuda_runtime_cu12", ("cudart64_*.dll", "libcudart.so.*")),
    "cusparse": Source("nvidia_cusparse_cu12", ("cusparse64_*.dll", "libcusparse.so.*")),
    "nvjitlink": Source("nvidia_nvjitlink_cu12", ("libnvJitLink.so.*", "nvJitLink_*.dll")),
}


def lay_out(wheels: Path, artifacts: Path, sources: Mapping[str, Source]) -> None:
    """Make artifacts of wheels: DLLs in `bin`, others in `lib`, licence texts in `share/licenses`."""
    shutil.rmtree(artifacts, ignore_errors=True)
    for name, source in sources.items():
        artifact = artifacts / f"{name}_lib_generic"
        (wheel,) = wheels.glob(f"{source.wheel}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                file, stage = Path(member), artifact / "stage"
                if any(map(file.match, source.libraries)):
                    target = stage / ("bin" if file.suffix == ".dll" else "lib") / file.name
                elif ".dist-info/" in member and file.name.upper().startswith("LICENSE"):
                    target = stage / "share/licenses" / name / file.name
                else:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
        (artifact / "artifact_manifest.txt").write_text("stage\n")


def build_all(workspace: Workspace, made: Path) -> Build:
    """Build both SDKs, and copy what they give their users; return the build."""
    build = built(workspace.build("//..."))
    for sdk in SDKS:
        outputs = workspace.directory / "bazel-bin" / sdk
        shutil.copytree(outputs / "dist", made / sdk / "dist")
        for report in (*outputs.glob("*.plan.json"), *outputs.glob("*.platform_tag.json"), *outputs.glob("*.cdx.json")):
            shutil.copy(report, made / sdk)
    return build


def main() -> None:
    """Fetch, lay out, and build."""
    directory = Path(sys.argv[1]).absolute()
    project, output_base = directory / "project", directory / "output_base"
    for old in ("made", "project", "said"):
        shutil.rmtree(directory / old, ignore_errors=True)
    said = directory / "said"
    said.mkdir(parents=True)
    workspace = copy_out(HERE / "project", project, output_base)
    for platform, folder in PLATFORMS.items():
        fetch_wheels(HERE / "wheels.txt", directory / folder, platform)
        lay_out(directory / folder, project / "artifacts" / folder, SOURCES)
    try:
        (said / "build").write_text(build_all(workspace, directory / "made").output, encoding="utf-8")
        (said / "test").write_text(built(workspace.build("//...", command="test")).output, encoding="utf-8")
    finally:
        workspace.run("shutdown")
        remove_output_base(output_base)


if __name__ == "__main__":
    main()
