"""Every tool that people give wheels to accepts ours.

    python3 -m tests.e2e.validators.validate --dist DIR --reports DIR [--example]

Run it from the top of the workspace. Each wheel of the first directory goes through `python -m zipfile`, unzip, pip,
uv, `wheel unpack`, installer, check-wheel-contents, pydistcheck and `twine check --strict`, in the versions that
requirements.txt locks, and its RECORD is compared with what is in it, to the last file; sdists go through pip, uv,
pydistcheck and twine. `opinions.py` compares the reports of //packaging:platform_tags, in the second directory, with
auditwheel's, and checks the bills of materials. `big.py` makes a wheel of over 4 GiB for this.
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

from tests.e2e.validators.publishable import check_classifiers, check_opinions, publishing_commands
from tests.e2e.validators.tools import HERE, Tools, make_tools, run

CHUNK = 1 << 20


def commands(wheel: Path, tools: Tools, scratch: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield what a wheel goes through: the tool's name and its command."""
    python = tools.programs / "python"
    yield "zipfile", (python, "-m", "zipfile", "--test", wheel)
    yield "unzip", ("unzip", "-tqq", wheel)
    yield (
        "check-wheel-contents",
        (tools.programs / "check-wheel-contents", "--config", HERE / "check_wheel_contents.toml", wheel),
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


def main() -> int:
    """Check all distributions of a directory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of distributions")
    parser.add_argument("--reports", type=Path, required=True, help="directory of the reports on platform tags")
    parser.add_argument("--example", action="store_true", help="the distributions are the example SDK's")
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
    print(f"{len(wheels)} wheels accepted by every tool")
    return 0


if __name__ == "__main__":
    sys.exit(main())
