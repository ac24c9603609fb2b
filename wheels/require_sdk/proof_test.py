"""Libraries that a linker made: symbols with versions are proven, and the new wheel's libraries load beside the SDK."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from develop.testing.framework_wheel import HIP, made, run, sdk
from develop.testing.linked_elf import compiler, link
from develop.testing.wheel_sample import Sample

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")

GRAFTED = "libhip-1a2b3c4d.so.7.1.2"
HIP_CODE = "int hipMalloc(int x) { return x + 1; } int hipFree(void) { return 5; }"
MORE_CODE = HIP_CODE + " int hipNew(void) { return 6; }"
USER_CODE = "extern int hipMalloc(int); extern int hipFree(void); int outer(int x) { return hipMalloc(x) + hipFree(); }"
NEW_CODE = "extern int hipMalloc(int); extern int hipNew(void); int outer(int x) { return hipMalloc(x) + hipNew(); }"
OLD_VERSIONS = "hip_1 { global: hipMalloc; }; hip_2 { global: hipFree; } hip_1;"
NEW_VERSIONS = f"{OLD_VERSIONS} hip_3 {{ global: hipNew; }} hip_2;"
OTHER_VERSIONS = "hip_1 { global: hipFree; }; hip_2 { global: hipMalloc; } hip_1;"


def hip(folder: Path, soname: str, code: str = HIP_CODE, versions: str = OLD_VERSIONS) -> Path:
    """Link the SDK's library, under a name."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "versions"
    script.write_text(versions, encoding="utf-8")
    options = ("-shared", "-fPIC", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}")
    return link(folder / soname, code, *options)


def user(folder: Path, library: Path, code: str = USER_CODE, *options: str) -> bytes:
    """Link a library that needs another one."""
    return link(folder / "user.so", code, "-shared", "-fPIC", str(library), *options).read_bytes()


def core(path: Path, version: str = "7.1") -> Sample:
    """Return the SDK's wheel with this library."""
    return Sample({"_sdk/lib/libhip.so.7": path.read_bytes()}, name="sdk_core", version=version)


def answer(folder: Path, *wheels: Path) -> str:
    """Install wheels side by side, load the user's library, and return what its function says, or the error."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    code = "import ctypes, os, sys; print(ctypes.CDLL(sys.argv[1], os.RTLD_NOW).outer(4))"
    command = (sys.executable, "-c", code, str(folder / "acme/user.so"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def test_the_library_loads_beside_the_sdk(tmp_path: Path) -> None:
    library = hip(tmp_path / "build", "libhip.so.7")
    acme = Sample({"acme/user.so": user(tmp_path, library)}, name="acme")
    folder = sdk(tmp_path, core(library))
    assert run(tmp_path, acme) == 0
    assert "libhip.so.7: cannot open" in answer(tmp_path / "before", tmp_path / "in" / acme.filename)
    assert answer(tmp_path / "after", made(tmp_path), *folder.glob("*.whl")) == "10"


def test_a_grafted_copy_is_replaced_by_the_sdk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grafted = hip(tmp_path / "grafted", GRAFTED)
    files = {
        "acme/user.so": user(tmp_path, grafted, USER_CODE, "-Wl,-rpath,$ORIGIN/../acme.libs"),
        f"acme.libs/{GRAFTED}": grafted.read_bytes(),
    }
    folder = sdk(tmp_path, core(hip(tmp_path / "build", "libhip.so.7")))
    assert run(tmp_path, Sample(files, name="acme"), "--drop-bundled") == 0
    assert "sdk_core-7.1-py3-none-linux_x86_64.whl: left out" in capsys.readouterr().out
    assert answer(tmp_path / "after", made(tmp_path), *folder.glob("*.whl")) == "10"
    assert not (tmp_path / "after/acme.libs").exists()


@pytest.mark.parametrize(
    ("built", "versions", "code", "message"),
    [
        (MORE_CODE, NEW_VERSIONS, NEW_CODE, "needs hipNew in version hip_3, and _sdk/lib/libhip.so.7 lacks it"),
        (MORE_CODE, NEW_VERSIONS, NEW_CODE, "S111 the library that is loaded lacks a symbol version: "),
        (
            HIP_CODE,
            OTHER_VERSIONS,
            USER_CODE,
            "needs hipMalloc in version hip_2, and _sdk/lib/libhip.so.7 has it in version hip_1",
        ),
    ],
)
@pytest.mark.parametrize("is_bundled", [False, True])
def test_another_build_of_the_sdk(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    built: str,
    versions: str,
    code: str,
    message: str,
    is_bundled: bool,
) -> None:
    name = GRAFTED if is_bundled else "libhip.so.7"
    other = hip(tmp_path / "other", name, built, versions)
    copies = {f"acme.libs/{GRAFTED}": other.read_bytes()} if is_bundled else {}
    acme = Sample({"acme/user.so": user(tmp_path, other, code), **copies}, name="acme")
    sdk(tmp_path, core(hip(tmp_path / "build", "libhip.so.7")))
    assert run(tmp_path, acme, "--drop-bundled") == 1
    said = capsys.readouterr().err
    assert message in said
    assert "acme/user.so" in said
    assert not (tmp_path / "out").exists()


def test_a_library_without_versions_serves_who_wants_some(tmp_path: Path) -> None:
    other = hip(tmp_path / "other", "libhip.so.7")
    acme = Sample({"acme/user.so": user(tmp_path, other)}, name="acme")
    plain = link(tmp_path / "libhip.so.7", HIP_CODE, "-shared", "-fPIC", "-Wl,-soname,libhip.so.7")
    sdk(tmp_path, core(plain))
    assert run(tmp_path, acme) == 0
    assert set(HIP) == {"hipMalloc", "hipFree"}


def test_weak_symbols_may_be_missing(tmp_path: Path) -> None:
    library = hip(tmp_path / "build", "libhip.so.7")
    code = f"{USER_CODE} extern int hipNew(void) __attribute__((weak)); int more(void) {{ return hipNew ? 1 : 0; }}"
    sdk(tmp_path, core(library))
    assert run(tmp_path, Sample({"acme/user.so": user(tmp_path, library, code)}, name="acme")) == 0
