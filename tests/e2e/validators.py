"""Every tool that people give wheels to accepts ours.

    python3 -m tests.e2e.validators --dist DIR [--big]

Run it from the top of the workspace. Each wheel of DIR goes through `python -m zipfile`, unzip, pip, uv,
`wheel unpack`, installer and check-wheel-contents, in the versions that validators.txt locks, and its RECORD is
compared with what is in it, to the last file; sdists go through pip and uv. With --big a wheel of more than 4 GiB is
made by the real rules and goes through all that as well; this takes 20 GB of disk while it runs.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.builds import WORKSPACE, Workspace, built

HERE = Path(__file__).resolve().parent
CHUNK = 1 << 20
#: A bit more than what 32 bits of a zip header can say.
BIG = (4 << 30) + (100 << 20)
BIG_ARTIFACT = "core-hip_lib_generic"


def run(*command: object) -> None:
    """Run a command; its failure ends the program with all that it said."""
    result = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout}")


def make_tools(folder: Path) -> Path:
    """Install the locked tools; return the folder with their programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", HERE / "validators.txt")
    return programs


def commands(wheel: Path, programs: Path, scratch: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield what a wheel goes through: the tool's name and its command."""
    python = programs / "python"
    yield "zipfile", (python, "-m", "zipfile", "--test", wheel)
    yield "unzip", ("unzip", "-tqq", wheel)
    yield (
        "check-wheel-contents",
        (
            programs / "check-wheel-contents",
            "--config",
            HERE / "check_wheel_contents.toml",
            wheel,
        ),
    )
    yield "wheel unpack", (programs / "wheel", "unpack", "--dest", scratch / "unpacked", wheel)
    yield (
        "installer",
        (
            *(python, "-m", "installer", "--validate-record", "all", "--no-compile-bytecode"),
            *("--destdir", scratch / "installer", wheel),
        ),
    )
    pip = ("install", "--quiet", "--no-deps", "--no-index")
    yield "pip", (python, "-m", "pip", *pip, "--no-compile", "--target", scratch / "pip", wheel)
    yield "uv", (programs / "uv", "pip", *pip, "--no-cache", "--python", python, "--target", scratch / "uv", wheel)


def check_record(wheel: Path) -> int:
    """Compare every file with its line in RECORD; return their number. Raises AssertionError naming what differs."""
    with zipfile.ZipFile(wheel) as archive:
        (record,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert sorted(row[0] for row in rows) == sorted(archive.namelist()), f"{wheel}: RECORD lists other files"
        for name, digest, size in rows:
            if name == record:
                assert (digest, size) == ("", ""), f"{wheel}: RECORD has a digest of itself"
                continue
            sha256, count = hashlib.sha256(), 0
            with archive.open(name) as file:
                while chunk := file.read(CHUNK):
                    sha256.update(chunk)
                    count += len(chunk)
            found = base64.urlsafe_b64encode(sha256.digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={found}", str(count)), f"{wheel}: {name} is not as RECORD says"
    return len(rows)


def check_wheel(wheel: Path, programs: Path, scratch: Path) -> None:
    """Put a wheel through everything."""
    started, accepted = time.monotonic(), []
    for name, command in commands(wheel, programs, scratch):
        scratch.mkdir()
        run(*command)
        shutil.rmtree(scratch)
        accepted.append(name)
    count = check_record(wheel)
    size, seconds = wheel.stat().st_size / 1e6, time.monotonic() - started
    print(f"{wheel.name}: {size:,.1f} MB, {count} files in RECORD; {', '.join(accepted)}: {seconds:.0f} s", flush=True)


def check_sdist(sdist: Path, programs: Path, dist: Path) -> None:
    """Have pip and uv read an sdist's metadata, which runs its build backend."""
    options = ("install", "--quiet", "--dry-run", "--no-deps", "--no-index", f"--find-links={dist}", sdist)
    run(programs / "python", "-m", "pip", *options)
    run(programs / "uv", "pip", *options[:1], "--no-cache", "--python", programs / "python", *options[1:])
    print(f"{sdist.name}: pip, uv", flush=True)


def make_big_artifact(artifacts: Path) -> None:
    """Make an artifact with a file over 4 GiB that does not shrink, and one that shrinks to nearly nothing.

    Deflate looks back 32 KiB, so the same megabyte again and again does not shrink.
    """
    folder = artifacts / BIG_ARTIFACT / "stage/share"
    folder.mkdir(parents=True)
    (artifacts / BIG_ARTIFACT / "artifact_manifest.txt").write_text("stage\n")
    block = os.urandom(CHUNK)
    with (folder / "noise").open("wb") as file:
        for _ in range(BIG // CHUNK):
            file.write(block)
    with (folder / "zeros").open("wb") as file:
        file.truncate(BIG)


def check_big_wheel(programs: Path, scratch: Path) -> None:
    """Make a wheel over 4 GiB and put it through everything."""
    artifacts = scratch / "artifacts"
    make_big_artifact(artifacts)
    workspace = Workspace(WORKSPACE, artifacts)
    build = built(workspace.build("//packaging:core_wheel", options=("--//rules/settings:compression=fast",)))
    root = Path(workspace.info("execution_root"))
    outputs = [root / action.output for name in ("RocmLink", "RocmPack") for action in build.ran(name)]
    try:
        (wheel,) = [path for path in outputs if path.suffix == ".whl"]
        shutil.rmtree(artifacts)
        with zipfile.ZipFile(wheel) as archive:
            noise, zeros = (archive.getinfo(f"_rocm_sdk_core/share/{name}") for name in ("noise", "zeros"))
        limit = 1 << 32
        assert noise.compress_size > limit < noise.file_size
        assert zeros.compress_size < limit < zeros.file_size
        check_wheel(wheel, programs, scratch / "big")
    finally:
        for path in outputs:
            path.unlink(missing_ok=True)  # Bazel makes them again if it ever needs them


def main() -> int:
    """Check all distributions of a directory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of distributions")
    parser.add_argument("--big", action="store_true", help="also make and check a wheel over 4 GiB")
    args = parser.parse_args()
    if not shutil.which("unzip"):
        sys.exit("unzip is not on PATH; install it")
    distributions = sorted(args.dist.resolve().iterdir())
    wheels = [path for path in distributions if path.suffix == ".whl"]
    if not wheels:
        sys.exit(f"{args.dist}: holds no wheels; expected a directory like bazel-bin/packaging/dist")
    with tempfile.TemporaryDirectory(prefix="rocm-validators-") as name:
        scratch = Path(name)
        programs = make_tools(scratch / "tools")
        for wheel in wheels:
            check_wheel(wheel, programs, scratch / "wheel")
        for sdist in (path for path in distributions if path.name.endswith(".tar.gz")):
            check_sdist(sdist, programs, args.dist.resolve())
        if args.big:
            check_big_wheel(programs, scratch)
    print(f"{len(wheels) + args.big} wheels accepted by every tool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
