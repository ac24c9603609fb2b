"""Packages two SDKs that others built, as their release engineers would: CUDA's libraries, and Debian's ffmpeg.

    python3 -m tests.e2e.foreign_sdks.make DIRECTORY

It fetches NVIDIA's wheels for Linux and Windows, lays their libraries out as artifacts, and builds the project beside
this file, which is copied out of this workspace. `DIRECTORY/made` then has a folder for each SDK, with what a build
gives its users, and `DIRECTORY/said` what Bazel printed, also about each of `MISTAKES`. `.ci/run foreign-sdks` calls
this and `foreign_sdks_test.py`.
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
#: Bazel prints errors, and what it was asked for.
QUIET = ("--ui_event_filters=-info", "--noshow_progress")
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


@dataclass(frozen=True)
class Mistake:
    """What somebody writes who is wrong: a text of a file of the project, and what stands there instead."""

    name: str
    file: str
    right: str
    wrong: str
    #: Where the build fails: an `action`, the `analysis` of a rule, a `repository`. Empty: the error is Bazel's.
    where: str
    #: What only the error says, once for each target.
    says: str
    target: str = "//compute:dist"


COMPUTE = "compute/BUILD.bazel"
MISTAKES = (
    Mistake("pattern", COMPUTE, '["nvjitlink"]', '["nvjitlink"], exclude = ["lib/*.a"]', "action", "matches 'lib/*.a'"),
    Mistake("needs", COMPUTE, 'needs = ["linker"]', "needs = []", "action", "See to "),
    Mistake("artifact", COMPUTE, '"nvjitlink"', '"nvjit"', "action", "is made from no artifact"),
    Mistake("licence", COMPUTE, "LicenseRef-NVIDIA-Proprietary", "NVIDIA", "action", "is not an SPDX expression"),
    Mistake("tag", "BUILD.bazel", '"linux_x86_64"', '"manylinux_2_5_x86_64"', "action", "Set --//:linux_tag="),
    Mistake("version", "BUILD.bazel", '"1.0.0"', '"1.0.x"', "analysis", 'base "1.0.x"'),
    Mistake("label", "packages.bzl", '"//:version"', '"//:versions"', "", "did you mean version"),
    Mistake("directory", "MODULE.bazel", "artifacts/windows", "artifacts/window", "repository", "cannot be read"),
    Mistake("suite", "MODULE.bazel", "trixie", "trixy", "repository", "needs another `suite`", "//media:dist"),
)
#: How each is built: as Bazel does, which stops at an error, and to the end.
WAYS = {"stop": QUIET, "keep_going": (*QUIET, "--keep_going")}


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


def make_mistake(workspace: Workspace, mistake: Mistake) -> dict[str, str]:
    """Return what Bazel prints about a mistake, by way.

    Raises ValueError if it builds, or the file has no such text.
    """
    file = workspace.directory / mistake.file
    text = file.read_text(encoding="utf-8")
    if mistake.right not in text:
        raise ValueError(f"{mistake.file} has no {mistake.right}")
    file.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")
    builds = {way: workspace.build(mistake.target, options=options) for way, options in WAYS.items()}
    file.write_text(text, encoding="utf-8")
    if any(build.succeeded for build in builds.values()):
        raise ValueError(f"{mistake.name}: the build succeeded with {mistake.wrong}")
    return {way: build.output for way, build in builds.items()}


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
    """Fetch, lay out, build, and be wrong."""
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
        for mistake in MISTAKES:
            for way, output in make_mistake(workspace, mistake).items():
                (said / f"{mistake.name}.{way}").write_text(output, encoding="utf-8")
    finally:
        workspace.run("shutdown")
        remove_output_base(output_base)


if __name__ == "__main__":
    main()
