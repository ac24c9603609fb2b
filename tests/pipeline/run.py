"""Builds an SDK in one process: calls each tool's `main` as the rules have Bazel do it.

    built = build(sdk, folder, Variation())

What an action is given follows `rules/private`: sdk_artifact.bzl, common/units.bzl, common/package_actions.bzl,
sdk_wheel.bzl and sdk_index.bzl. Arguments go through params files. A tool that returns an error ends the build.
"""

import contextlib
import hashlib
import json
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from develop.testing import tiny_elf
from lib.elf import constants as c
from tests.pipeline.artifacts import Variation
from tests.pipeline.calling import BuildError, call, quickly
from tests.pipeline.sdk import SCRIPTS, Package, Sdk, Settings
from tools.actions.index import tool as index_tool
from tools.actions.inspect import tool as inspect_tool
from tools.actions.link import tool as link_tool
from tools.actions.pack import tool as pack_tool
from tools.actions.plan import tool as plan_tool
from tools.actions.platform_tag import tool as platform_tag_tool
from tools.fetch.catalog import catalog, one_archive, scan

REPOSITORY = "rules_rocm_python++rocm+rocm_artifacts"
#: Extensions of data, as `_DATA_EXTENSIONS` of common/units.bzl has them, as far as SDKs have such names.
DATA_EXTENSIONS = ("h", "txt", "kdb")
PLATFORMS = {c.EM_X86_64: "linux_x86_64", c.EM_AARCH64: "linux_aarch64"}
LICENSE = "MIT"
README = "# An SDK\n"


@dataclass(frozen=True)
class Unit:
    """What one inspect and one pack action work on."""

    id: str
    manifest: Path
    files: dict[str, Path]
    """Name of each file in manifests, and where it is."""
    inspected: dict[str, Path]
    facts: Path
    is_big: bool = False


@dataclass(frozen=True)
class Catalogued:
    """An artifact as the catalog wrote it down."""

    name: str
    manifest: Path
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Wheel:
    """What the build made of one package."""

    package: Package
    file: Path
    metadata: Path
    digest: Path
    plan: Path


@dataclass(frozen=True)
class Built:
    """A finished build."""

    wheels: dict[str, Wheel]
    index: Path


@dataclass
class _Build:
    sdk: Sdk
    folder: Path
    variation: Variation
    artifacts: dict[str, Catalogued] = field(default_factory=dict)
    plans: dict[str, Path] = field(default_factory=dict)
    packed: dict[str, list[tuple[Path, Path]]] = field(default_factory=dict)
    cache: "Cache | None" = None

    def ordered(self, items: list[str]) -> list[str]:
        """Return arguments in the order in which this build gives them."""
        return items[::-1] if self.variation.backwards else items


@dataclass
class Cache:
    """Outputs of actions by their tools, arguments and the contents of the inputs that the rules declare."""

    known: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    hits: int = 0


def _key(run: _Build, main: Callable[[list[str]], int], arguments: list[str], inputs: Iterable[Path]) -> str:
    """Return what Bazel looks an action up by: no mode and no time, and nothing of what a params file does not name."""
    digest = hashlib.sha256("\n".join([main.__module__, *arguments]).replace(str(run.folder), "").encode())
    for path in sorted(set(inputs)):
        digest.update(f"{path}\n".replace(str(run.folder), "").encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _written(run: _Build, outputs: Iterable[Path]) -> list[tuple[str, bytes]]:
    """Return the contents of outputs, of directories all below, by their paths in the build."""
    found = [one for path in outputs for one in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [(str(path.relative_to(run.folder)), path.read_bytes()) for path in found if path.is_file()]


def _action(
    run: _Build, main: Callable[[list[str]], int], arguments: list[str], inputs: Iterable[Path], outputs: list[Path]
) -> None:
    """Run an action's tool with a params file, a line for each argument, as Bazel writes it; or take it from the cache.

    `inputs` and `outputs` are what the rule declares.
    """
    key = _key(run, main, arguments, inputs) if run.cache else ""
    if run.cache and key in run.cache.known:
        run.cache.hits += 1
        for name, data in run.cache.known[key]:
            place = run.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        return
    if run.variation.quick:
        call(main, arguments)
    else:
        params = run.folder / "params"
        params.write_text("".join(f"{argument}\n" for argument in arguments), encoding="utf-8")
        call(main, [f"@{params}"])
    if run.cache:
        run.cache.known[key] = _written(run, outputs)


def build(sdk: Sdk, artifacts: Path, folder: Path, variation: Variation, cache: Cache | None = None) -> Built:
    """Build all wheels and the index of the artifacts into a folder; raises BuildError where a tool refuses.

    What the cache knows is not built again.
    """
    run = _Build(sdk, folder, variation, cache=cache)
    with (
        mock.patch.object(scan, "BIG_FILE_BYTES", sdk.settings.big_file),
        _umask(variation.umask),
        quickly(threads=not variation.quick),
    ):
        _catalog(run, artifacts)
        for artifact in run.artifacts.values():
            for unit in artifact.units:
                _inspect(run, artifact, unit)
        for package in sdk.packages:
            _plan(run, package)
        for packages in _packed_together(sdk.packages):
            _pack(run, packages)
        for package in sdk.packages:
            _prove_tag(run, package)
        wheels = {package.name: _link(run, package) for package in sdk.packages}
        return Built(wheels, _index(run, wheels))


@contextlib.contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def _catalog(run: _Build, artifacts: Path) -> None:
    """Scan the directory, as the repository rules do."""
    output, archives = run.folder / "external" / REPOSITORY, []
    output.mkdir(parents=True)
    if run.variation.archive:
        archives = [f"{one.name}{run.variation.archive}" for one in run.sdk.artifacts]
    pairs = [f"--archived={name}={REPOSITORY}_{number}" for number, name in enumerate(archives)]
    arguments = [f"--artifacts={artifacts}", f"--repository={REPOSITORY}", f"--output={output}"]
    call(catalog.main, arguments + run.ordered(pairs))
    _read_repository(run, output)
    for number, name in enumerate(archives):
        place = run.folder / "external" / f"{REPOSITORY}_{number}"
        place.mkdir()
        artifact = name.removesuffix(run.variation.archive)
        arguments = [f"--archive={artifacts / name}", f"--artifact={artifact}"]
        call(one_archive.main, [*arguments, f"--repository={place.name}", f"--output={place}"])
        _read_repository(run, place)


def _read_repository(run: _Build, place: Path) -> None:
    """Take up the artifacts that a repository's BUILD file declares: it is Python, too."""

    def catalogued_artifact(**attributes: Any) -> None:
        artifact = f"{attributes['artifact_name']}_{attributes['component']}_{attributes['target']}"
        run.artifacts[artifact] = _catalogued(run, place, artifact, attributes)

    words = {"load": lambda *_: None, "package": lambda **_: None, "catalogued_artifact": catalogued_artifact}
    exec((place / "BUILD.bazel").read_text(encoding="utf-8"), words)


def _catalogued(run: _Build, place: Path, artifact: str, attributes: dict[str, Any]) -> Catalogued:
    identity = artifact.replace(":", "%3A")
    labels_given = [*attributes["srcs"], *attributes["big_srcs"]]
    if len(set(labels_given)) != len(labels_given):
        raise BuildError(f"//:{attributes['name']}: a label is duplicated in srcs, which Bazel refuses")

    def unit(name: str, manifest: str, labels: list[str], *, is_big: bool = False) -> Unit:
        files = {f"../{place.name}/{label}": place / label for label in run.ordered(labels)}
        inspected = {name: path for name, path in files.items() if _extension(name) not in DATA_EXTENSIONS}
        facts = run.folder / f"{identity}.facts" / f"{identity}/{name}.json"
        return Unit(f"{identity}/{name}", place / manifest, files, inspected, facts, is_big)

    units = [unit("small", attributes["small_manifest"], attributes["srcs"])]
    for label, manifest in zip(attributes["big_srcs"], attributes["big_manifests"], strict=True):
        name = label.partition(f"files/{attributes['name']}/")[2]
        units.append(unit(f"big/{name}", manifest, [label], is_big=True))
    return Catalogued(artifact, place / attributes["manifest"], tuple(units))


def _extension(label: str) -> str:
    """Return what Bazel calls a File's extension."""
    name = posixpath.basename(label)
    return name.rpartition(".")[2] if "." in name else ""


def _inspect(run: _Build, artifact: Catalogued, unit: Unit) -> None:
    unit.facts.parent.mkdir(parents=True, exist_ok=True)
    arguments = [f"--label=//:{artifact.name}", f"--artifact={artifact.name}", f"--unit={unit.id}"]
    arguments += [f"--manifest={unit.manifest}", f"--output={unit.facts}"]
    arguments += [f"--file={name}={path}" for name, path in unit.inspected.items()]
    _action(run, inspect_tool.main, arguments, [unit.manifest, *unit.inspected.values()], [unit.facts])


def _linked_units(run: _Build, package: Package) -> list[str]:
    """Return what a devel package does not pack: the big files of packages that it builds on."""
    if package.kind == "runtime" or package.repacked:
        return []
    on = [one for one in run.sdk.packages if one.name in package.builds_on]
    below = {unit.id for one in on for name in one.artifacts for unit in run.artifacts[name].units if unit.is_big}
    return [unit.id for name in package.artifacts for unit in run.artifacts[name].units if unit.id in below]


def _packed_units(run: _Build, package: Package) -> list[tuple[Catalogued, Unit]]:
    """Return what a package packs."""
    linked = _linked_units(run, package)
    units = [(run.artifacts[name], unit) for name in package.artifacts for unit in run.artifacts[name].units]
    return [(artifact, unit) for artifact, unit in units if unit.id not in linked]


def _plan(run: _Build, package: Package) -> None:
    place = run.folder / package.name
    definition = {name: getattr(package, name) for name in ("exclude", "include", "kind", "rpath", "tree")}
    definition |= {"package": package.name, "per_target": package.slice is not None}
    definition |= {"allow_unmatched": package.rpath}
    if not package.strict:
        definition |= {"allow_empty": True, "allow_unmatched": [*package.include, *package.exclude, *package.rpath]}
    definition |= {"slice": asdict(package.slice)} if package.slice else {}
    place.mkdir()
    (place / "definition.json").write_text(json.dumps(definition), encoding="utf-8")
    artifacts = [run.artifacts[name] for name in package.artifacts]
    run.plans[package.name] = place / "plan.json"
    manifests = [artifact.manifest for artifact in artifacts]
    facts = [unit.facts for artifact in artifacts for unit in artifact.units]
    builds_on = [run.plans[name] for name in package.builds_on]
    outputs = [run.plans[package.name]]
    arguments = [f"--label=//:{package.name}", f"--definition={place / 'definition.json'}"]
    arguments += run.ordered([f"--manifest={path}" for path in manifests])
    arguments += run.ordered([f"--facts={path}" for path in facts])
    arguments += [*(f"--builds-on={path}" for path in builds_on), f"--output={run.plans[package.name]}"]
    for _, unit in _packed_units(run, package):
        edits = place / "edits" / f"{unit.id}.json"
        edits.parent.mkdir(parents=True, exist_ok=True)
        arguments.append(f"--edit={unit.id}={edits}")
        outputs.append(edits)
    arguments += [f"--launchers={artifact.name}={artifact.units[0].id}" for artifact in artifacts]
    inputs = [place / "definition.json", *manifests, *facts, *builds_on]
    _action(run, plan_tool.main, arguments, inputs, outputs)


def launcher(settings: Settings) -> bytes:
    """Return a program with room for a target, instead of the compiled launcher."""
    return tiny_elf.program(".launcher.target", bytes(512), machine=settings.machine)


def _packed_together(packages: tuple[Package, ...]) -> list[list[Package]]:
    """Return the packages of each rule: those per GPU target are of one."""
    thin = [package for package in packages if package.slice]
    return [[package] for package in packages if not package.slice] + ([thin] if thin else [])


def _pack(run: _Build, packages: list[Package]) -> None:
    program = run.folder / "launcher"
    program.write_bytes(launcher(run.sdk.settings))
    for package in packages:
        run.packed[package.name] = []
    for artifact, unit in _packed_units(run, packages[0]):
        places = [run.folder / package.name for package in packages]
        segments, indexes = ([place / "segments" / f"{unit.id}{end}" for place in places] for end in (".seg", ".json"))
        for package, segment, index in zip(packages, segments, indexes, strict=True):
            segment.parent.mkdir(parents=True, exist_ok=True)
            run.packed[package.name].append((segment, index))
        edits = [place / "edits" / f"{unit.id}.json" for place in places]
        launchers = [] if unit.is_big else [program]
        arguments = [f"--label=//:{packages[0].name}", *(f"--edits={path}" for path in edits)]
        arguments += [f"--artifact={artifact.name}", f"--manifest={unit.manifest}"]
        arguments += [f"--launcher={path}" for path in launchers]
        arguments += [f"--compression={run.sdk.settings.compression}", "--threads=1"]
        arguments += [f"--segment={segment}" for segment in segments]
        arguments += [f"--index={index}" for index in indexes]
        arguments += [f"--file={name}={path}" for name, path in unit.files.items()]
        inputs = [*edits, unit.manifest, *launchers, *unit.files.values()]
        _action(run, pack_tool.main, arguments, inputs, [*segments, *indexes])


def _prove_tag(run: _Build, package: Package) -> None:
    place = run.folder / package.name
    arguments = [f"--label=//:{package.name}_wheel", f"--distribution={package.distribution}", "--setting=//:tag"]
    arguments += [f"--tag={PLATFORMS[run.sdk.settings.machine]}", f"--plan={run.plans[package.name]}"]
    builds_on = [run.plans[name] for name in package.builds_on]
    facts = [unit.facts for name in package.artifacts for unit in run.artifacts[name].units]
    report = place / "platform_tag.json"
    arguments += [f"--kind={package.kind}"]
    arguments += [*(f"--builds-on={path}" for path in builds_on), *(f"--facts={path}" for path in facts)]
    inputs = [run.plans[package.name], *builds_on, *facts]
    _action(run, platform_tag_tool.main, [*arguments, f"--output={report}"], inputs, [report])


def _project(run: _Build, package: Package) -> dict[str, Any]:
    version = run.sdk.settings.version
    on = [one.distribution for one in run.sdk.packages if one.name in package.builds_on]
    return {
        "classifiers": ["Development Status :: 4 - Beta"],
        "distribution": package.distribution,
        "dynamic": [],
        "license_expression": LICENSE,
        "license_files": ["LICENSE"],
        "requires": [f"{name}=={version}" for name in on],
        "requires_python": ">=3.9",
        "summary": f"The package {package.name} of an SDK",
        "urls": {"Homepage": "https://example.org/"},
        "version": version,
    }


def wheel_name(sdk: Sdk, package: Package) -> str:
    """Return the file name of a package's wheel, as sdk_wheel.bzl declares it."""
    escaped = package.distribution.replace("-", "_").replace(".", "_")
    return f"{escaped}-{sdk.settings.version}-py3-none-{PLATFORMS[sdk.settings.machine]}.whl"


def _link(run: _Build, package: Package) -> Wheel:
    place = run.folder / package.name
    file = place / wheel_name(run.sdk, package)
    texts = {"project.json": json.dumps(_project(run, package)), "README.md": README, "LICENSE": "The licence\n"}
    texts["__init__.py"] = '"""Glue."""\n'
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    wheel = Wheel(package, file, Path(f"{file}.metadata"), Path(f"{file}.digest.json"), run.plans[package.name])
    arguments = [f"--label=//:{package.name}_wheel", f"--project={place / 'project.json'}"]
    arguments += [f"--description={place / 'README.md'}", f"--metadata={wheel.metadata}", f"--digest={wheel.digest}"]
    packed = run.packed[package.name][:: -1 if run.variation.backwards else 1]
    arguments += [f"--plan={wheel.plan}", f"--platform-tag={place / 'platform_tag.json'}"]
    arguments += [f"--index={index}" for _, index in packed]
    arguments += [
        *(f"--segment={segment}" for segment, _ in packed),
        f"--tag=py3-none-{PLATFORMS[run.sdk.settings.machine]}",
        f"--wheel={file}",
    ]
    arguments += [f"--license-pattern={pattern}" for pattern in run.sdk.settings.license_patterns]
    if package.kind == "devel":
        archive = run.sdk.settings.devel_archive
        arguments += [f"--devel={archive}", f"--import-name={package.import_name}"]
    elif run.sdk.settings.scripts and package.kind == "runtime":
        texts["console_scripts.json"] = json.dumps([{"script": name, "path": path} for name, path in SCRIPTS.items()])
        (place / "console_scripts.json").write_text(texts["console_scripts.json"], encoding="utf-8")
        arguments += [f"--console-scripts={place / 'console_scripts.json'}", f"--import-name={package.import_name}"]
    arguments += [f"--file={{dist_info}}/licenses/LICENSE={place / 'LICENSE'}"]
    arguments += [f"--file={package.import_name}/__init__.py={place / '__init__.py'}"]
    inputs = [*(place / name for name in (*texts, "platform_tag.json")), wheel.plan]
    inputs += [path for pair in packed for path in pair]
    _action(run, link_tool.main, arguments, inputs, [file, wheel.metadata, wheel.digest])
    return wheel


def _index(run: _Build, wheels: dict[str, Wheel]) -> Path:
    output = run.folder / "dist"
    style, script = run.folder / "page.css", run.folder / "page.js"
    style.write_text("", encoding="utf-8")
    script.write_text("", encoding="utf-8")
    output.mkdir()
    arguments = ["--label=//:dist"]
    inputs = [style, script]
    for wheel in wheels.values():
        inputs += [wheel.file, wheel.metadata, wheel.digest]
        arguments += [f"--distribution={wheel.file}", f"--metadata={wheel.metadata}", f"--digest={wheel.digest}"]
    arguments += ["--title=An SDK", f"--style={style}", f"--script={script}", f"--output={output}"]
    _action(run, index_tool.main, arguments, inputs, [output])
    return output
