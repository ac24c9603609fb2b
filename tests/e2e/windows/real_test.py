"""DLLs that nobody here compiled, in our packages: installed by CPython for Windows, loaded across packages, and used.

    .ci/run windows-real

It packages them with `real.py`, and calls this in a root that has wine, from the top of the workspace. AMD's own DLLs
for Windows are in no package registry. Those that the one with HIP code needs are stood in for by images with the same
exports, which do nothing.
"""

import io
import json
from pathlib import Path
from struct import pack

import pytest

from develop.testing.pe_sample import PE_OFFSET, Sample
from lib.pe.model import PeImage
from lib.pe.reader import OPTIONAL_HEADER, read_pe
from tests.e2e.windows.machine import Wine, install_python, windows_path
from tests.e2e.windows.packages_test import PIP, Python

#: Its modules `libraries` load DLLs in the right order, for whichever SDK.
RUNTIME = Path(__file__).resolve().parents[3] / "rules/runtime"
#: By tree, the DLLs that a program asks for.
ASKED = {
    "_real_sdk_mkl": ["mkl_intel_thread.3.dll", "mkl_tbb_thread.3.dll", "mkl_rt.3.dll"],
    "_real_sdk_threading": ["tbbbind_2_5.dll", "umf.dll"],
}
#: wine has no NUMA nodes for threads to be bound to.
WITHOUT_NUMA = {"KMP_AFFINITY": "disabled"}
#: What Visual C++'s helper for delayed imports raises if there is no such DLL.
MODULE_NOT_FOUND = "0xc06d007e"
#: Loads them in the order of their imports; prints what is loaded then, by name, and what MKL computes.
USE = """
import ctypes, json, os, sys
from pathlib import Path
source, site, current, asked, layer = sys.argv[1:]
sys.path.insert(0, source)
os.chdir(current)
from libraries.loading import load_libraries, load_order
site = Path(site)
directories = sorted(site.glob("_real_sdk_*/bin"))
wanted = [site / tree / "bin" / name for tree, names in json.loads(asked).items() for name in names]
order = load_order(wanted, directories)
mkl = load_libraries(wanted, directories)[site / "_real_sdk_mkl/bin/mkl_rt.3.dll"]
assert mkl.MKL_Set_Threading_Layer(int(layer)) == int(layer)
vector = (ctypes.c_double * 3)
mkl.cblas_ddot.restype = ctypes.c_double
dot = mkl.cblas_ddot(3, vector(1, 2, 3), 1, vector(4, 5, 6), 1)
a, b, x = (ctypes.c_double * 4)(2, 1, 1, 3), vector(5, 10), (ctypes.c_int * 2)()
failed = mkl.LAPACKE_dgesv(101, 2, 1, a, 2, x, b, 1)
size = 300
square = (ctypes.c_double * (size * size))(*([1.0] * size * size))
product = (ctypes.c_double * (size * size))()
one = ctypes.c_double
mkl.cblas_dgemm(101, 111, 111, size, size, size, one(1), square, size, square, size, one(0), product, size)
windows = ctypes.windll.kernel32
name = ctypes.create_unicode_buffer(1 << 15)
windows.GetModuleHandleW.restype = ctypes.c_void_p
windows.GetModuleFileNameW.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32)
places = {}
for path in site.glob("_real_sdk_*/bin/*.dll"):
    handle = windows.GetModuleHandleW(path.name)
    if handle:
        windows.GetModuleFileNameW(handle, name, len(name))
        places[path.name] = [name.value.lower(), str(path).lower()]
print(json.dumps({
    "order": [path.name for path in order], "places": places, "dot": dot, "solved": [failed, *b[:2]],
    "product": sorted(set(product)),
}))
"""


@pytest.fixture(scope="module")
def python(
    request: pytest.FixtureRequest, machine: Wine, fetched: Path, tmp_path_factory: pytest.TempPathFactory
) -> Python:
    made = Python(machine, install_python(fetched, tmp_path_factory.mktemp("python")))
    page = request.config.getoption("--dist") / "find-links.html"
    options = ("--no-index", f"--find-links={windows_path(page)}", "--no-warn-script-location")
    made(*PIP, "install", *options, "real-sdk-mkl", "real-sdk-hip")
    return made


@pytest.fixture(scope="module")
def hostile(python: Python, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a file of the name of each DLL, none of which can be loaded."""
    made = tmp_path_factory.mktemp("hostile")
    for library in python.site.glob("_real_sdk_*/bin/*.dll"):
        (made / library.name).write_bytes(b"MZ, but no library")
    return made


def test_pip_installs_what_is_required(python: Python) -> None:
    assert "No broken requirements found" in python(*PIP, "check")
    installed = {one["name"] for one in json.loads(python(*PIP, "list", "--format=json"))}
    assert installed >= {"real-sdk-hip", "real-sdk-mkl", "real-sdk-runtime", "real-sdk-threading"}


@pytest.mark.parametrize(("layer", "threads"), [(0, "mkl_intel_thread.3.dll"), (4, "mkl_tbb_thread.3.dll")])
def test_mkl_computes_with_dlls_of_other_packages(python: Python, hostile: Path, layer: int, threads: str) -> None:
    """Each DLL is its package's, with broken ones of all names first on PATH and in the current directory."""
    first = windows_path(hostile)
    given = (windows_path(RUNTIME), windows_path(python.site), first, json.dumps(ASKED), str(layer))
    said = json.loads(python("-c", USE, *given, variables={"WINEPATH": first, **WITHOUT_NUMA}))
    assert (said["dot"], said["solved"], said["product"]) == (32.0, [0, 1.0, 3.0], [300.0])
    order = said["order"]
    for needed, needing in (
        ("libiomp5md.dll", "mkl_intel_thread.3.dll"),
        ("mkl_core.3.dll", "mkl_intel_thread.3.dll"),
        ("tbb12.dll", "mkl_tbb_thread.3.dll"),
        ("libhwloc-15.dll", "tbbbind_2_5.dll"),
        ("libhwloc-15.dll", "umf.dll"),
    ):
        assert order.index(needed) < order.index(needing)
    assert {*order, threads} <= said["places"].keys()
    assert all(loaded == packaged for loaded, packaged in said["places"].values()), said["places"]


def test_without_the_order_dlls_are_not_found(python: Python) -> None:
    """What a DLL needs late, Windows looks for as programs do: adding directories does not help."""
    code = (
        "import ctypes, os, sys; from pathlib import Path; site = Path(sys.argv[1]); "
        "[os.add_dll_directory(str(one)) for one in site.glob('_real_sdk_*/bin')]; "
        "mkl = ctypes.CDLL(str(site / '_real_sdk_mkl/bin/mkl_rt.3.dll')); one = ctypes.c_double; size = 300; "
        "square = (one * (size * size))(); "
        "mkl.cblas_dgemm(101, 111, 111, size, size, size, one(1), square, size, square, size, one(0), square, size)"
    )
    done = python.machine.run(python.program, "-c", code, windows_path(python.site), variables=WITHOUT_NUMA)
    assert done.returncode != 0
    assert MODULE_NOT_FOUND in done.stderr, done.stderr


def test_the_table_of_device_code_has_that_of_dlls(request: pytest.FixtureRequest) -> None:
    """The code is compressed, as HIP of today does."""
    table = json.loads((request.config.getoption("--dist").parent / "coverage.json").read_text())
    processors = [f"gfx{number}" for number in (1100, 1101, 1102, 1150, 1151, 1200, 1201)]
    assert table["libraries"] == {"bin/libbitsandbytes_rocm72.dll": processors}


def stand_in(exports: tuple[str, ...], base: int) -> bytes:
    """Make a DLL of which each function returns at once, to be loaded at an address."""
    data = bytearray(Sample(exports=exports, imports=()).build())
    image = read_pe(io.BytesIO(data), "stand-in")
    text, _ = image.sections
    optional = PE_OFFSET + 24
    magic = OPTIONAL_HEADER[image.magic]
    assert magic.unpack_from(data, optional)[0] == image.image_base
    data[optional + 24 : optional + 32] = pack("<Q", base)
    data[text.position + 36 : text.position + 40] = pack("<I", 0x60000020)
    return bytes(data)


def test_code_for_gpus_loads(python: Python, tmp_path: Path) -> None:
    """Everything is there except AMD's DLLs, which users must have; it registers its code when it is loaded."""
    library = python.site / "_real_sdk_hip/bin/libbitsandbytes_rocm72.dll"
    with library.open("rb") as file:
        image: PeImage = read_pe(file, library.name)
    code = (
        "import ctypes, os, sys; os.add_dll_directory(sys.argv[1]); library = ctypes.CDLL(sys.argv[2]); "
        "print(bool(library.cquantize_blockwise_fp32))"
    )
    given = (windows_path(tmp_path), windows_path(library))
    done = python.machine.run(python.program, "-c", code, *given)
    assert done.returncode != 0
    assert "Could not find module" in done.stderr
    missing = ("amdhip64_7.dll", "hipblas.dll", "libhipblaslt.dll", "rocblas.dll")
    for number, table in enumerate(one for one in image.imports if one.library in missing):
        names = tuple(one.name for one in table.symbols if one.name)
        (tmp_path / table.library).write_bytes(stand_in(names, 0x2_0000_0000 + number * 0x100_0000))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(missing)
    assert python("-c", code, *given).strip() == "True"
