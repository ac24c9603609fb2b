"""Every tool that people give wheels to accepts ours.

    python3 -m tests.e2e.validators.validate --dist DIR --reports DIR [--example] [--big]

Run it from the top of the workspace. Each wheel of the first directory goes through `python -m zipfile`, unzip, pip,
uv, `wheel unpack`, installer, check-wheel-contents, pydistcheck and `twine check --strict`, in the versions that
requirements.txt locks, and its RECORD is compared with what is in it, to the last file; sdists go through pip, uv,
pydistcheck and twine. `opinions.py` compares the reports of //packaging:platform_tags, in the second directory, with
auditwheel's, and checks the bills of materials. With --big a wheel of more than 4 GiB is
made by the real rules and goes through all that as well; this takes 30 GB of disk while it runs.
"""

import argparse
import base64
import csv
import hashlib
import io
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE, Workspace, built
from tests.e2e.validators.publishable import check_classifiers, check_opinions, publishing_commands
from tests.e2e.validators.tools import HERE, Tools, make_tools, run

CHUNK = 1 << 20
#: A bit more than what 32 bits of a zip header can say.
BIG = (4 << 30) + (100 << 20)
BIG_ARTIFACT = "core-hip_lib_generic"


def commands(wheel: Path, tools: Tools, scratch: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield what a wheel goes through: the tool's name and its command."""
    python = tools.programs / "python"
    yield "zipfile", (python, "-m", "zipfile", "--test", wheel)
    yield "unzip", ("unzip", "-tqq", wheel)
    yield (
        "check-wheel-contents",
        (
            tools.programs / "check-wheel-contents",
            "--config",
            HERE / "check_wheel_contents.toml",
            wheel,
        ),
    )
    yield from publishing_commands(wheel, tools)
    yield "wheel unpack", (tools.programs / "wheel", "unpack", "--dest", scratch / "wheel unpack", wheel)
    yield (
        "installer",
        (
            *(python, "-m", "installer", "--validate-record", "all", "--no-compile-bytecode"),
            *("--destdir", scratch / "installer", wheel),
        ),
    )
    pip = ("install", "--quiet", "--no-deps", "--no-index")
    yield "pip", (python, "-m", "pip", *pip, "--no-compile", "--target", scratch / "pip", wheel)
    yield (
        "uv",
        (tools.programs / "uv", "pip", *pip, "--no-cache", "--python", python, "--target", scratch / "uv", wheel),
    )


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


def check_wheel(wheel: Path, tools: Tools, scratch: Path, workers: int | None = None) -> None:
    """Put a wheel through everything, so many tools at a time; by default as many as there are processors."""
    started = time.monotonic()

    def accept(name: str, command: tuple[object, ...]) -> str:
        (scratch / name).mkdir(parents=True)
        run(*command)
        shutil.rmtree(scratch / name)  # before the next one needs the space
        return name

    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        counted = pool.submit(check_record, wheel)
        accepted = [pool.submit(accept, name, command) for name, command in commands(wheel, tools, scratch)]
        names = ", ".join(done.result() for done in accepted)
        count = counted.result()
    size, seconds = wheel.stat().st_size / 1e6, time.monotonic() - started
    print(f"{wheel.name}: {size:,.1f} MB, {count} files in RECORD; {names}: {seconds:.0f} s", flush=True)


def check_sdist(sdist: Path, tools: Tools, dist: Path) -> None:
    """Have pip and uv read an sdist's metadata, which runs its build backend."""
    options = ("install", "--quiet", "--dry-run", "--no-deps", "--no-index", f"--find-links={dist}", sdist)
    run(tools.programs / "python", "-m", "pip", *options)
    run(tools.programs / "uv", "pip", *options[:1], "--no-cache", "--python", tools.programs / "python", *options[1:])
    accepted = ["pip", "uv"]
    for name, command in publishing_commands(sdist, tools):
        run(*command)
        accepted.append(name)
    print(f"{sdist.name}: {', '.join(accepted)}", flush=True)


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


def check_big_wheel(tools: Tools, scratch: Path) -> None:
    """Make a wheel over 4 GiB and put it through everything."""
    artifacts = scratch / "artifacts"
    make_big_artifact(artifacts)
    workspace = Workspace(WORKSPACE, artifacts)
    build = built(workspace.build("//packaging:core_wheel", options=("--//rules/settings:compression=fast",)))
    root = Path(workspace.info("execution_root"))
    outputs = [root / action.output for name in ("RocmLink", "RocmPack") for action in build.ran(name)]
    try:
        (wheel,) = [path for path in outputs if path.suffix == ".whl"]
        # Disks are not endless: what is not needed any more goes, and one tool at a time unpacks 9 GB.
        shutil.rmtree(artifacts)
        for segment in outputs:
            if segment != wheel:
                segment.unlink(missing_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            noise, zeros = (archive.getinfo(f"_rocm_sdk_core/share/{name}") for name in ("noise", "zeros"))
        limit = 1 << 32
        assert noise.compress_size > limit < noise.file_size
        assert zeros.compress_size < limit < zeros.file_size
        check_wheel(wheel, tools, scratch / "big", workers=1)
    finally:
        for path in outputs:
            path.unlink(missing_ok=True)  # Bazel makes them again if it ever needs them


def main() -> int:
    """Check all distributions of a directory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of distributions")
    parser.add_argument("--reports", type=Path, required=True, help="directory of the reports on platform tags")
    parser.add_argument("--example", action="store_true", help="the distributions are those of the example SDK")
    parser.add_argument("--big", action="store_true", help="also make and check a wheel over 4 GiB")
    args = parser.parse_args()
    if not shutil.which("unzip"):
        sys.exit("unzip is not on PATH; install it")
    wheels = sorted(args.dist.resolve().glob("*.whl")) + sorted(args.dist.resolve().glob("static/*.whl"))
    if not wheels:
        sys.exit(f"{args.dist}: holds no wheels; expected a directory like bazel-bin/packaging/dist")
    with tempfile.TemporaryDirectory(prefix="rocm-validators-") as name:
        scratch = Path(name)
        tools = make_tools(scratch / "tools", "pydistcheck_example.toml" if args.example else "pydistcheck.toml")
        for wheel in wheels:
            check_wheel(wheel, tools, scratch / "wheel")
        for sdist in sorted(args.dist.resolve().glob("*.tar.gz")):
            check_sdist(sdist, tools, args.dist.resolve())
        check_classifiers(wheels, tools)
        check_opinions([wheel for wheel in wheels if not wheel.name.endswith("-any.whl")], tools, args.reports)
        if args.big:
            check_big_wheel(tools, scratch)
    print(f"{len(wheels) + args.big} wheels accepted by every tool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
