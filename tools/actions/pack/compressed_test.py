"""Device code, plain and compressed in every way, through the program that pack actions run: a zip application.

What it loads, deflate's library and zstd's, comes from the archive, as in an action.
"""

import hashlib
import io
import json
import random
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

import tools.actions.pack.tool
from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle
from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK
from lib.device.content import digests, pack_header
from lib.device.model import Bundle, Compression, DeviceCode, Method
from lib.device.reader import read_device_code
from lib.device.zstd import ZstdEncoder
from lib.elf.source import Source
from lib.pack.segment import LEVELS, SegmentIndex
from tools.python.zip_application import write_archive

NAME = "a_lib_gfx9-all"
TARGETS = ("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-")
HEADER_SIZES = {1: 20, 2: 24, 3: 32}


def code(target: str) -> bytes:
    """Make a code object that neither deflates nor encodes to nothing: half noise, half words."""
    rng = random.Random(target)
    return rng.randbytes(40_000) + b"".join(rng.choice((b"s_load", b"v_add", b"s_nop")) for _ in range(20_000))


CODE = {target: code(target) for target in TARGETS}
PLAIN = bundle([(HOST, b""), *((PREFIX + target, CODE[target]) for target in TARGETS)])


def ccob(data: bytes, version: int, level: int = 3) -> bytes:
    """Compress a bundle as clang does, with zstd."""
    encoder = ZstdEncoder()
    encoder.begin(level, len(data))
    frame = encoder.step(data) + encoder.finish()
    digest = hashlib.md5(data, usedforsecurity=False).digest()[:8]
    compression = Compression(version, Method.ZSTD, HEADER_SIZES[version], len(data), digest)
    return pack_header(Source(io.BytesIO(b""), "bundle"), 0, compression, len(frame)) + frame


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Assemble the program as Bazel does."""
    root = Path(tools.actions.pack.tool.__file__).parents[3]
    members = {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted([*root.glob("tools/*/*/*"), *root.glob("lib/*/*")])
        if path.suffix in (".py", ".so") and not path.stem.endswith("_test")
    }
    main = b"import sys\nfrom tools.actions.pack.tool import main\nraise SystemExit(main(sys.argv[1:]))\n"
    output = tmp_path_factory.mktemp("application") / "pack_tool.pyz"
    write_archive(str(output), {"__main__.py": main} | members)
    return output


class Unit:
    """A unit of some files, each with device code, and the program that packs it."""

    def __init__(self, application: Path, directory: Path, contents: Sequence[bytes]) -> None:
        self.application, self.directory = application, directory
        self.names = [f"a{number}" for number in range(len(contents))]
        entries = []
        for name, content in zip(self.names, contents, strict=True):
            (directory / name).write_bytes(content)
            entries.append({"base": "stage", "path": f"lib/{name}.so", "kind": "file", "file": f"../r/{name}"})
        (directory / "manifest").write_text(json.dumps({"artifact": NAME, "entries": entries}), encoding="utf-8")

    def pack(self, compression: str, *wanted: Sequence[str], threads: int = 1) -> list[list[bytes]]:
        """Pack for packages that want these targets, all code if none; returns the files of each."""
        arguments = ["--label=//:thin", f"--artifact={NAME}", f"--manifest={self.directory}/manifest"]
        arguments += [f"--compression={compression}", f"--threads={threads}"]
        for number, targets in enumerate(wanted):
            entries = [
                {"path": f"lib/{name}.so", "mode": "0755", "source": f"{NAME}/stage/lib/{name}.so"}
                | ({"slice": list(targets)} if targets else {})
                for name in self.names
            ]
            (self.directory / f"edits{number}").write_text(json.dumps({"entries": entries, "digest": []}), "utf-8")
            arguments += [f"--{name}={self.directory}/{name}{number}" for name in ("edits", "segment", "index")]
        arguments += [f"--file=../r/{name}={self.directory}/{name}" for name in self.names]
        (self.directory / "params").write_text("\n".join(arguments) + "\n", encoding="utf-8")
        command = [sys.executable, "-I", "-S", "-B", str(self.application), f"@{self.directory}/params"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
        assert (done.returncode, done.stderr) == (0, "")
        return [self._files(number) for number in range(len(wanted))]

    def _files(self, number: int) -> list[bytes]:
        index = SegmentIndex.from_document(json.loads((self.directory / f"index{number}").read_text(encoding="utf-8")))
        segment = (self.directory / f"segment{number}").read_bytes()
        runs = [segment[entry.offset : entry.offset + entry.length] for entry in index.entries]
        return [zlib.decompress(run + FINAL_BLOCK, -zlib.MAX_WBITS) for run in runs]


def read(data: bytes) -> tuple[DeviceCode, Bundle]:
    device = read_device_code(io.BytesIO(data), "a.so")
    return device, device.bundles[0]


def codes(data: bytes) -> dict[str, str]:
    """Return the digest of each code object by its target."""
    device, one = read(data)
    found = digests(io.BytesIO(data), device, one)
    return {str(code.entry.target): digest for code, digest in found.items() if code.entry.target}


def expected(*targets: str) -> dict[str, str]:
    return {target: hashlib.sha256(CODE[target]).hexdigest() for target in targets}


@pytest.mark.parametrize("size", ["small unit", "big file"])
@pytest.mark.parametrize("compression", LEVELS)
@pytest.mark.parametrize("version", [0, 1, 2, 3], ids=["plain", "CCOB 1", "CCOB 2", "CCOB 3"])
def test_kept_and_sliced(application: Path, tmp_path: Path, version: int, compression: str, size: str) -> None:
    fat = Sample((Part(ccob(PLAIN, version) if version else PLAIN),)).build()
    contents = [fat, fat] if size == "small unit" else [fat + random.Random(1).randbytes(3 * BLOCK_BYTES)]
    unit = Unit(application, tmp_path, contents)
    kept, gfx1030, gfx90a = unit.pack(compression, (), ("gfx1030",), ("gfx90a",), threads=2)
    assert kept == contents
    for found, targets in ((gfx1030, TARGETS[:1]), (gfx90a, TARGETS[1:])):
        assert [codes(data) for data in found] == [expected(*targets)] * len(contents)
        for data in found:
            _, one = read(data)
            assert (one.compression.version if one.compression else 0) == version
            assert one.size < len(PLAIN) if version else one.size > 50_000 * len(targets)
    assert unit.pack(compression, ("gfx90a",)) == [gfx90a]


def test_the_level_follows_the_setting(application: Path, tmp_path: Path) -> None:
    unit = Unit(application, tmp_path, [Sample((Part(ccob(PLAIN, 3)),)).build()])
    sizes = {name: read(unit.pack(name, ("gfx90a",))[0][0])[1].size for name in LEVELS}
    assert sizes["small"] < sizes["balanced"] < sizes["fast"]


def test_what_is_compressed_is_not_deflated(application: Path, tmp_path: Path) -> None:
    dense = ccob(bundle([(HOST, b""), (f"{PREFIX}gfx1030", random.Random(5).randbytes(2 * BLOCK_BYTES))]), 3)
    unit = Unit(application, tmp_path, [Sample((Part(dense),)).build()])
    unit.pack("balanced", ())
    # 5 bytes for every 65,535 (RFC 1951, 3.2.4), except the last, short block of the file.
    assert (tmp_path / "segment0").stat().st_size > len(dense)


def test_a_frame_that_pack_made_is_stored_and_what_lies_beside_it_deflated(application: Path, tmp_path: Path) -> None:
    words = b"words " * 20_000
    unit = Unit(application, tmp_path, [Sample((Part(ccob(PLAIN, 3)),)).build() + words])
    for compression, levels in LEVELS.items():
        ((sliced,),) = unit.pack(compression, ("gfx90a",))
        _, one = read(sliced)
        frame = sliced[one.offset + HEADER_SIZES[3] : one.offset + one.size]
        assert len(frame) > 40_000
        segment = (tmp_path / "segment0").read_bytes()
        assert (frame[:30_000] in segment) == levels.stores_dense, compression
        assert len(segment) < len(frame) + 10_000
        assert words[:100] not in segment
