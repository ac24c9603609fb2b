"""Two SDKs that others built, from our wheels alone: installed and used on Linux and under wine, and read.

    .ci/run foreign-sdks

It packages them with `make.py`, and calls this in a root that has wine, from the top of the workspace.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.foreign_sdks.words import foreign_words, shown_texts
from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.windows.machine import install_python, windows_path, wine
from tests.e2e.windows.packages_test import PIP, Python

#: Loads the library for sparse matrices, and what it needs of another package; asks it for its version.
COMPUTE = """
import acme_compute, ctypes, json
found = [acme_compute.find_library(name).name.lower() for name in ("cusparse", "nvJitLink")]
library, number = acme_compute.load_library("cusparse"), ctypes.c_int()
assert library.cusparseGetProperty(0, ctypes.byref(number)) == 0
try:
    acme_compute.load_library("libcuda.so.1")
except FileNotFoundError as error:
    refused = str(error)
packages = [package.distribution for package, _ in acme_compute.packages._installed()]
print(json.dumps([found, number.value, packages, refused]))
"""
COMPUTE_PACKAGES = ["acme-compute-linker", "acme-compute-runtime", "acme-compute-sparse"]
#: Loads the codecs, and says where all is that was loaded.
MEDIA = """
import acme_media, json
version = acme_media.load_library("avcodec").avcodec_version() >> 16
files = {line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if ".so" in line}
print(json.dumps([version, str(acme_media.find_library("avutil")), sorted(files)]))
"""
#: Libraries of the system: libc's, the compiler's, and `externals`.
SYSTEM = {"ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6"}
SYSTEM |= {"libexpat.so.1", "libffi.so.8", "libgbm.so.1", "libz.so.1"}


class Environment:
    """A virtual environment with one SDK, from its index alone."""

    def __init__(self, directory: Path, made: Path, requirement: str) -> None:
        self.bin = directory / "bin"
        self.site = next(directory.glob("lib/python*/site-packages"))
        self("python", *PIP, "install", "--no-index", f"--find-links={made / 'dist/find-links.html'}", requirement)

    def __call__(self, program: str, *arguments: str, variables: dict[str, str] | None = None) -> str:
        """Run a program of the environment, and return what it prints; with no variables but these."""
        command: list[str | Path] = [self.bin / program, *arguments]
        done = subprocess.run(command, env=variables or {}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def environment(name: str, directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    place = tmp_path_factory.mktemp(name)
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    return Environment(place, directory / "made" / name, f"acme-{name}")


@pytest.fixture(scope="session")
def compute(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment("compute", directory, tmp_path_factory)


@pytest.fixture(scope="session")
def media(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment("media", directory, tmp_path_factory)


@pytest.fixture(scope="session")
def windows(directory: Path, fetched: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Python]:
    """CPython for Windows with the libraries of CUDA."""
    with wine(tmp_path_factory.mktemp("wine")) as machine:
        python = Python(machine, install_python(fetched, tmp_path_factory.mktemp("python")))
        python.install(windows_path(directory / "made/compute/dist/find-links.html"), "acme-compute")
        yield python


def test_cusparse_loads_across_packages(compute: Environment) -> None:
    found, version, packages, refused = json.loads(compute("python", "-c", COMPUTE))
    assert found == ["libcusparse.so.12", "libnvjitlink.so.12"]
    assert (version, packages) == (12, COMPUTE_PACKAGES)
    assert foreign_words(refused) == []


def test_what_is_opened_is_said_in_the_metadata(compute: Environment) -> None:
    (metadata,) = compute.site.glob("acme_compute_runtime-*.dist-info/METADATA")
    assert "\nRequires-External: libcuda.so.1\n" in metadata.read_text()


def test_cusparse_loads_across_packages_on_windows(windows: Python) -> None:
    found, version, packages, refused = json.loads(windows("-c", COMPUTE))
    assert found == ["cusparse64_12.dll", "nvjitlink_120_0.dll"]
    assert (version, packages) == (12, COMPUTE_PACKAGES)
    assert foreign_words(refused) == []


def test_windows_alone_does_not_find_the_other_package(windows: Python) -> None:
    (library,) = windows.site.glob("_acme_compute_sparse/bin/cusparse64_*.dll")
    done = windows.machine.run(windows.program, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(library))
    assert "Could not find module" in done.stderr


def test_codecs_load_in_an_empty_environment(media: Environment) -> None:
    version, found, files = json.loads(media("python", "-c", MEDIA))
    assert version == 61
    assert "/_acme_media_core/" in found
    owned = {Path(file).name for file in files if file.startswith(str(media.site))}
    assert "libavcodec.so.61" in owned
    assert len(owned) > 50


def test_a_video_is_encoded_and_read_with_the_packages(media: Environment, tmp_path: Path) -> None:
    video = tmp_path / "video.mp4"
    made = ("-f", "lavfi", "-i", "testsrc=duration=1:size=64x64:rate=10", "-c:v", "libx264", "-loglevel", "error")
    media("ffmpeg", *made, str(video))
    asked = ("-show_entries", "stream=codec_name,width,nb_frames", "-of", "json", "-loglevel", "error")
    assert json.loads(media("ffprobe", *asked, str(video)))["streams"] == [
        {"codec_name": "h264", "width": 64, "nb_frames": "10"}
    ]


def test_the_programs_libraries_are_of_the_packages(media: Environment) -> None:
    """ld.so(8) lists what it would load."""
    listed = media(str(media.site / "_acme_media_tools/bin/ffmpeg"), variables={"LD_TRACE_LOADED_OBJECTS": "1"})
    found = dict(line.split()[:3:2] for line in listed.splitlines() if "=>" in line)
    assert "libavdevice.so.61" in found
    assert {name for name, path in found.items() if not path.startswith(str(media.site))} <= SYSTEM


@pytest.mark.parametrize("sdk", ["compute", "media"])
def test_users_read_no_word_of_another_sdk(sdk: str, directory: Path) -> None:
    """Wheels with their code, index, pages, reports."""
    texts = list(shown_texts(directory / "made" / sdk))
    places = " ".join(place for place, _ in texts)
    for needed in ("METADATA", "WHEEL", "loading.py", "index.html", ".cdx.json", ".plan.json", "_packages.json"):
        assert needed in places
    assert {place: words for place, text in texts if (words := foreign_words(text))} == {}


def test_installed_scripts_have_no_word_of_another_sdk(media: Environment) -> None:
    scripts = [media.bin / name for name in ("ffmpeg", "ffprobe")]
    assert [foreign_words(script.read_text()) for script in scripts] == [[], []]


@pytest.mark.parametrize("name", ["build", "test"])
def test_builds_print_no_word_of_another_sdk(name: str, directory: Path) -> None:
    """Nor does the verifier."""
    text = (directory / "said" / name).read_text(encoding="utf-8")
    for path in (directory, WORKSPACE):
        text = text.replace(str(path), "")
    assert foreign_words(text) == []


@pytest.mark.parametrize("text", ["ROCm", "AMD's", "hipcc", "gfx942", "Radeon", "_rocm_sdk_core"])
def test_a_word_is_found(text: str) -> None:
    assert foreign_words(f"rules_rocm_python: RocmPack says {text} of amd64") != []
