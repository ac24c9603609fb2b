"""Installing published packages by hash: a lock is made from the index, and what does not have its hash is refused."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.channel.locked_programs import run_alone

PROJECT = """\
[project]
name = "consumer"
version = "1"
requires-python = ">=3.11"
dependencies = ["{requirement}"]

[tool.uv]
environments = ["sys_platform == 'linux'"]
prerelease = "allow"

[[tool.uv.index]]
url = "{index}"
default = true
"""


@dataclass(frozen=True)
class Published:
    """What was published, and where an installer finds it."""

    directory: Path
    url: str

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of every distribution, by file name."""
        found = [path for path in sorted(self.directory.rglob("*")) if path.name.endswith((".whl", ".tar.gz"))]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def requirement(self) -> str:
        """Return a requirement for the libraries, and for a GPU target's package if there is one."""
        devices = sorted(path.name for path in self.directory.glob("rocm_sdk_device_*.whl"))
        targets = [name.split("-")[0].removeprefix("rocm_sdk_device_") for name in devices[:1]]
        return f"rocm[{','.join(['libraries', *(f'device-{target}' for target in targets)])}]"

    def is_wanted(self, name: str) -> bool:
        """Whether `requirement` installs the wheel with this file name; False for `rocm` itself."""
        devices = sorted(path.name for path in self.directory.glob("rocm_sdk_device_*.whl"))
        return name in devices[:1] or name.startswith(("rocm_sdk_core-", "rocm_sdk_libraries-"))


def make_environment(programs: Path, folder: Path) -> Path:
    """Make an empty environment; return its interpreter."""
    run_alone(programs / "python", "-m", "venv", folder)
    return folder / "bin" / "python"


def check_works(python: Path, *, selected: bool) -> None:
    """Assert that `rocm-sdk` runs and that the packages which `rocm` requires can be imported."""
    output = run_alone(python, "-m", "rocm_sdk", "version")
    assert output.strip(), "rocm-sdk says no version"
    run_alone(python, "-c", "import rocm_sdk_core, rocm_sdk_libraries")
    assert selected or "static" in run_alone(python, "-m", "rocm_sdk", "targets", "--why")


def check_requirements(programs: Path, published: Published, scratch: Path) -> None:
    """Lock as a requirements file from the static index, and install that with pip and with uv."""
    index = f"{published.url}/static/simple/"
    wanted, locked = scratch / "requirements.in", scratch / "requirements.txt"
    wanted.write_text(f"{published.requirement()}\n")
    common = (f"--index-url={index}", "--no-cache")
    compile_options = ("--quiet", "--generate-hashes", "--prerelease=allow", *common)
    run_alone(programs / "uv", "pip", "compile", *compile_options, wanted, "-o", locked)
    digests = published.digests()
    text = locked.read_text()
    names = [name for name, digest in digests.items() if f"--hash=sha256:{digest}" in text]
    selector = next(name for name in digests if name.startswith("rocm-") and name.endswith(".whl"))
    assert names == [name for name in digests if name == selector or published.is_wanted(name)], text
    python = make_environment(programs, scratch / "pip")
    pip = (python, "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check")
    run_alone(*pip, f"--index-url={index}", "--require-hashes", "-r", locked)
    check_works(python, selected=False)
    python = make_environment(programs, scratch / "uv pip")
    run_alone(programs / "uv", "pip", "install", f"--python={python}", *common, "--require-hashes", "-r", locked)
    check_works(python, selected=False)
    refused = scratch / "refused.txt"
    refused.write_text(text.replace(digests[names[0]], "0" * 64))
    check_refused(programs, refused, index, scratch)


def check_refused(programs: Path, refused: Path, index: str, scratch: Path) -> None:
    """Assert that another hash than the lock's is refused by both installers: this test could fail."""
    python = make_environment(programs, scratch / "refused")
    options = (f"--index-url={index}", "--require-hashes", "-r", refused)
    output = run_alone(python, "-m", "pip", "install", "--no-cache-dir", *options, fails=True)
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in output, output
    output = run_alone(programs / "uv", "pip", "install", f"--python={python}", "--no-cache", *options, fails=True)
    assert "Hash mismatch" in output, output


def check_project(programs: Path, published: Published, scratch: Path) -> None:
    """Lock a project with `uv lock` from the main index, whose selector is an sdist, and install it with `uv sync`."""
    project = scratch / "project"
    project.mkdir()
    text = PROJECT.format(requirement=published.requirement(), index=f"{published.url}/simple/")
    (project / "pyproject.toml").write_text(text)
    uv = (programs / "uv", "--no-cache")
    python = f"--python={programs / 'python'}"
    run_alone(*uv, "lock", python, directory=project)
    text = (project / "uv.lock").read_text()
    for name, digest in published.digests().items():
        if published.is_wanted(name) or name.endswith(".tar.gz"):
            assert f"sha256:{digest}" in text, f"{name} is not in uv.lock with its hash"
    run_alone(*uv, "sync", "--locked", "--no-install-project", python, directory=project)
    check_works(project / ".venv" / "bin" / "python", selected=True)


def check_installs(programs: Path, directory: Path, url: str, scratch: Path) -> None:
    """Lock and install the packages of `directory`, served at `url`, in every way that checks hashes."""
    published = Published(directory, url)
    check_requirements(programs, published, scratch)
    check_project(programs, published, scratch)
