"""What pip and uv fetch from an index: the wheels that they install, and metadata. nginx's log says so.

    python3 -m tests.e2e.index.index_server --installers DIR --dist DIR --newer DIR [--python PROGRAM]

Run it from the top of the workspace, where nginx is on PATH. The directories are the same as for
`tests.e2e.install.installers`: the packages of the mini SDK, in two versions, and the installers' wheels. Every
installer gets the index as JSON, from nginx as docs/release/package-index.md sets it up, and as HTML, from a plain
nginx; the main one and the static one; both versions at once, of which it has to take the older one; and the
landing page as `--find-links`.
"""

import argparse
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.index.documented_nginx import index_server
from tests.e2e.install.environment import Environment, Installer
from tests.e2e.install.installers import installers, targets
from tests.e2e.install.interpreters import chosen
from tests.e2e.testing.nginx import Request, Server

JSON, HTML = "application/vnd.pypi.simple.v1+json", "text/html"
#: What clients accept, and what they get.
NEGOTIATION = {
    "": HTML,
    "*/*": HTML,
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": HTML,
    "application/vnd.pypi.simple.v1+html": HTML,
    JSON: JSON,
    "application/vnd.pypi.simple.latest+json": JSON,
    f"{JSON}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01": JSON,
}
#: Endings of distributions.
ENDINGS = (".whl", ".tar.gz")


class IndexEnvironment(Environment):
    """An environment that is filled from indexes."""

    def install_from(self, indexes: list[str], *requirements: str, **variables: str) -> None:
        """Install; of several indexes the best version counts, as pip has it."""
        python = str(self.directory / "bin" / "python")
        first, *others = indexes
        if self.installer.is_uv:
            command = [str(self.installer.program), "pip", "install", "--python", python, "--no-cache"]
            options = [f"--default-index={first}", *(f"--index={one}" for one in others)]
            options.append("--index-strategy=unsafe-best-match")
        else:
            command = [python, str(self.installer.program), "install", "--no-cache-dir", "--disable-pip-version-check"]
            options = [f"--index-url={first}", *(f"--extra-index-url={one}" for one in others)]
        self._run(*command, *options, *requirements, **variables)

    def install_from_page(self, page: str, *requirements: str, **variables: str) -> None:
        """Install from a page for `--find-links`."""
        command = [argument for argument in self._command("install") if argument != "--offline"]
        self._run(*command, "--no-index", f"--find-links={page}", *requirements, **variables)


@dataclass(frozen=True)
class Trial:
    """What is installed from where, and what has to be fetched for it."""

    title: str
    #: Directories of the index below the server's root.
    indexes: tuple[str, ...]
    requirements: tuple[str, ...]
    #: File names of what is installed.
    installed: frozenset[str]
    #: File names of wheels that are looked at beside them.
    considered: frozenset[str] = frozenset()


def files(dist: Path, *names: str) -> frozenset[str]:
    """Return the file names of distributions, by the beginnings of these."""
    found = [path.name for name in names for path in dist.glob(f"{name}-*") if path.name.endswith(ENDINGS)]
    assert len(found) == len(names), f"{dist}: {found}; expected one file each of {names}"
    return frozenset(found)


def trials(older: Path, newer: Path) -> list[Trial]:
    """Return what is tried: `older` and `newer` are served as directories of these names."""
    target = targets(older)[-1]
    device = f"rocm_sdk_device_{target}"
    chain = ("rocm_sdk_core", "rocm_sdk_libraries", device)
    (core,) = files(older, "rocm_sdk_core")
    pin = f"rocm-sdk-core=={core.split('-')[1]}"
    return [
        Trial("main index", ("older",), ("rocm[libraries]",), files(older, "rocm", *chain[:2])),
        Trial(
            "static index",
            ("older/static",),
            (f"rocm[libraries,device-{target}]",),
            files(older / "static", "rocm") | files(older, *chain),
        ),
        Trial(
            "two versions, of which the older one fits",
            ("newer", "older"),
            (f"rocm-sdk-device-{target}", pin),
            files(older, *chain),
            considered=files(newer, device),
        ),
    ]


def check(requests: list[Request], trial: Trial, content_type: str) -> None:
    """Check what was fetched for a trial: pages of one type, metadata, and the distributions that are installed."""
    failed = [one for one in requests if one.status != "200"]
    assert not failed, f"{trial.title}: {failed}"
    pages = {one.type for one in requests if one.path.endswith("/")}
    assert pages == {content_type}, f"{trial.title}: pages are {pages}; expected {content_type}"
    check_files(requests, trial)
    metadata = {one.filename.removesuffix(".metadata") for one in requests if one.filename.endswith(".metadata")}
    wheels = {name for name in trial.installed | trial.considered if name.endswith(".whl")}
    assert metadata >= wheels, f"{trial.title}: metadata of {sorted(wheels - metadata)} was not asked for"


def check_files(requests: list[Request], trial: Trial) -> None:
    """Check that the distributions that are installed were fetched, once and whole, and no others."""
    fetched = Counter(one.filename for one in requests if one.filename.endswith(ENDINGS))
    assert fetched == Counter(trial.installed), f"{trial.title}: fetched {fetched}; expected {sorted(trial.installed)}"
    assert not [one for one in requests if one.range], f"{trial.title}: parts of files were asked for"


def check_installed(environment: Environment, trial: Trial) -> None:
    """Check that what is installed is what the trial wants."""
    expected = sorted(name.removesuffix(".tar.gz").split("-")[0] for name in trial.installed)
    assert environment.distributions() == expected, f"{trial.title}: {environment.distributions()} are installed"
    environment.check_files()


def check_negotiation(server: Server) -> None:
    """Check what clients get by what they accept, of the list of projects and of a project."""
    for directory in ("simple/", "simple/rocm-sdk-core/", "static/simple/rocm/"):
        for accept, expected in NEGOTIATION.items():
            request = urllib.request.Request(f"{server.url}older/{directory}", headers={"Accept": accept})
            with urllib.request.urlopen(request) as answer:
                found = answer.headers["Content-Type"]
                assert found == expected, f"{directory} for {accept!r} is {found}; expected {expected}"
                assert answer.headers["Vary"] == "Accept", f"{directory}: caches would mix JSON and HTML"
    server.requests()
    print(f"{len(NEGOTIATION)} values of Accept get what they ask for")


def run(
    scratch: Path, python: Path, installer: Installer, server: Server, content_type: str, dists: list[Path]
) -> None:
    """Run all trials with an installer against a server."""
    variables = {"ROCM_SDK_TARGET_FAMILY": targets(dists[0])[0]}
    for number, trial in enumerate(trials(*dists)):
        environment = IndexEnvironment(scratch / str(number), python, installer)
        urls = [f"{server.url}{index}/simple/" for index in trial.indexes]
        started = time.monotonic()
        environment.install_from(urls, *trial.requirements, **variables)
        check_installed(environment, trial)
        requests = server.requests()
        check(requests, trial, content_type)
        report(installer, f"{trial.title}, {content_type}", requests, time.monotonic() - started)
    trial = trials(*dists)[0]
    for page in ("index.html", "find-links.html"):
        environment = IndexEnvironment(scratch / page, python, installer)
        started = time.monotonic()
        environment.install_from_page(f"{server.url}older/{page}", *trial.requirements, **variables)
        check_installed(environment, trial)
        requests = server.requests()
        check_files(requests, trial)
        report(installer, f"--find-links {page}", requests, time.monotonic() - started)


def report(installer: Installer, what: str, requests: list[Request], seconds: float) -> None:
    """Print what was asked for."""
    fetched = [one.filename for one in requests if one.filename.endswith(ENDINGS)]
    metadata = [one for one in requests if one.filename.endswith(".metadata")]
    pages = len(requests) - len(fetched) - len(metadata)
    counts = f"{pages} pages, {len(metadata)} metadata files, {len(fetched)} distributions, all installed"
    print(f"{installer.title}: {what}: {counts}: {seconds:.1f} s", flush=True)


def main() -> int:
    """Serve and install."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory with the distributions of a version")
    parser.add_argument("--newer", type=Path, required=True, help="directory with the distributions of a newer version")
    parser.add_argument("--installers", type=Path, required=True, metavar="DIR", help="the installers' wheels")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the interpreter to install for")
    args = parser.parse_args()
    (((major, minor), python),) = chosen([args.python]).items()
    with tempfile.TemporaryDirectory(prefix="rocm-index-") as name:
        scratch = Path(name)
        root = scratch / "root"
        root.mkdir()
        dists = [root / "older", root / "newer"]
        for place, dist in zip(dists, (args.dist, args.newer), strict=True):
            place.symlink_to(dist.resolve())
        for negotiates, content_type in ((True, JSON), (False, HTML)):
            with index_server(root, scratch / f"nginx-{negotiates}", negotiates=negotiates) as server:
                if negotiates:
                    check_negotiation(server)
                for installer in installers(args.installers, f"{major}.{minor}"):
                    folder = scratch / f"{installer.title} {negotiates}"
                    folder.mkdir()
                    run(folder, python, installer, server, content_type, dists)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
