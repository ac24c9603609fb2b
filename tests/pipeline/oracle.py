"""Whether the packages of an SDK are what they have to be, or their build was refused as it had to be.

    check_wheels(expected, wheels, site)
    check_installed(expected, site)
    check_index(expected, wheels, index)

`tests.pipeline.expected` says what has to come. Wheels are read by the standard library and by `packaging`, what they
hold by `tests.pipeline.package_reader`. What is found is a `FindingError`; its kind tells findings apart.
"""

import base64
import csv
import email.parser
import hashlib
import io
import json
import os
import posixpath
import re
import shutil
import stat
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

from lib.wheel.devel_tree import DevelTree
from tests.pipeline.expectation import OTHER_CPU, REFUSALS, Expected, Shipped, Tree
from tests.pipeline.file_rules import DATA, has_code, is_form, kept_code, matches
from tests.pipeline.package_reader import FindingError, bundles_of, normal, read_bundle, read_elf
from tests.pipeline.sdk import SCRIPTS, Content, Directory, Elf, File, Form, Node, Other, Package, Sdk

#: Refusals of several lines.
LONG = ("code for other GPUs", "torn", "name and code")

#: Refusals that may come from linking a wheel: contents are compared then, and console scripts are known. Until then,
#: two libraries of one SONAME may be taken for one file, which has one owner.
LATE = {OTHER_CPU, "conflict", "launcher without executable bit"}


def check_refusal(expected: Expected, message: str) -> str:
    """Return of which kind a refusal is; raises FindingError unless the documentation lets the build stop so.

    `message` is what the tool printed.
    """
    known = next((kind for words, kind in REFUSALS.items() if re.search(words, message)), None)
    if known is None or known not in expected.must | expected.may:
        raise FindingError(f"refused: {known}", f"{message}\n expected: {expected.must or expected.may or 'wheels'}")
    late = LATE | ({"two owners"} if "one SONAME, two libraries" in expected.may else set())
    if known == OTHER_CPU and set(expected.must) - late:
        raise FindingError(f"refused too late: {known}", f"{message}\n expected before: {expected.must}")
    lines = message.split("\n")
    if len(lines) > (len(set(lines)) if known in LONG else 1) or not message.startswith(("ERROR: //", "/")):
        raise FindingError("form of an error", message)
    return known


def check_wheels(expected: Expected, wheels: Mapping[str, Path], site: Path) -> None:
    """Check each wheel, and install it into `site`; raises FindingError."""
    if expected.must:
        kind, why = next(iter(expected.must.items()))
        raise FindingError(f"not refused: {kind}", why)
    for package in expected.sdk.packages:
        with zipfile.ZipFile(wheels[package.name]) as archive:
            files = {info.filename: (archive.read(info), info.external_attr >> 16) for info in archive.infolist()}
            if len(files) != len(archive.infolist()) or sorted(files) != sorted(set(files)):
                raise FindingError("member twice", package.name)
        check_metadata(expected.sdk, package, wheels[package.name], files)
        if package.kind == "runtime":
            check_scripts(expected.trees[package.name], expected.sdk, files)
            _check_tree(expected, expected.trees[package.name], files)
        _install(files, site)


def check_scripts(tree: Tree, sdk: Sdk, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that a wheel declares the console scripts of its tools: docs/using/rocm-sdk.md, "Console scripts"."""
    text = next((data.decode() for name, (data, _) in files.items() if name.endswith("/entry_points.txt")), "")
    declared = dict(re.findall(r"^(.+?) ?= ?(.+)$", text, re.MULTILINE))
    shipped = [name for name, path in SCRIPTS.items() if sdk.settings.scripts and path in tree.shipped]
    wanted = {
        name: f"{tree.package.import_name}._cli:{re.sub('[-+]', lambda m: '_x'[m[0] == '+'], name)}" for name in shipped
    }
    if declared != wanted:
        raise FindingError("console scripts", f"{tree.package.name}: {declared}; expected {wanted}")


def check_metadata(sdk: Sdk, package: Package, wheel: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check names, RECORD, METADATA and WHEEL of one wheel: PEP 427, PEP 566, PEP 639."""
    name, version, _, tags = parse_wheel_filename(wheel.name)
    info = f"{package.distribution.replace('-', '_')}-{sdk.settings.version}.dist-info"
    metadata = Metadata.from_email(files[f"{info}/METADATA"][0])
    on = [f"{one.distribution}=={sdk.settings.version}" for one in sdk.packages if one.name in package.builds_on]
    facts = {
        "name": (metadata.name, package.distribution),
        "file name": (name, package.distribution),
        "version": (str(metadata.version), str(version)),
        "requirements": ([str(one) for one in metadata.requires_dist or ()], on),
        "licence files": (
            sorted(f"{info}/licenses/{one}" for one in metadata.license_files or ()),
            sorted(one for one in files if one.startswith(f"{info}/licenses/")),
        ),
        "tags": (
            email.parser.BytesParser().parsebytes(files[f"{info}/WHEEL"][0]).get_all("Tag"),
            [str(tag) for tag in tags],
        ),
    }
    for what, (found, wanted) in facts.items():
        if found != wanted:
            raise FindingError("metadata", f"{wheel.name}: {what}: {found}; expected {wanted}")
    check_record(f"{info}/RECORD", files)


def check_record(record: str, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that RECORD lists each file of a wheel once, with its digest and size."""
    rows = list(csv.reader(io.StringIO(files[record][0].decode(), newline="")))
    wanted = {}
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        wanted[name] = [name, "", ""] if name == record else [name, f"sha256={digest}", str(len(data))]
    if sorted(rows) != sorted(wanted.values()):
        raise FindingError("RECORD", f"{rows}; expected {wanted}")


def _check_tree(expected: Expected, tree: Tree, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that a wheel has just the files that it is to ship, their bytes and modes."""
    prefix = f"{tree.package.tree}/"
    came = {name.removeprefix(prefix): file for name, file in files.items() if name.startswith(prefix)}
    is_at_top = any("/" not in path for path in tree.shipped)
    links = {f".devel_links/{tree.package.distribution}.json"} if tree.package.slice else set()
    wanted = {*tree.shipped, *links, *(() if is_at_top else (f".{tree.package.distribution}",))}
    if missing := sorted(wanted - set(came)):
        raise FindingError("missing file", f"{tree.package.name}: {missing[0]}: {tree.own.get(missing[0])}")
    if extra := sorted(set(came) - wanted):
        raise FindingError("extra file", f"{tree.package.name}: {extra[0]}: {tree.own.get(extra[0])}")
    _check_licenses(expected, tree, files)
    for path, shipped in tree.shipped.items():
        data, mode = came[path]
        where = f"{tree.package.name}: {path}"
        if mode != stat.S_IFREG | (0o755 if shipped.executable else 0o644):
            raise FindingError("mode", f"{where}: {mode:o}; expected executable: {shipped.executable}")
        if shipped.content is not None:
            check_content(where, shipped, data, (tree.package, path))
        elif shipped.is_forwarder:
            check_forwarder(where, data, tree, path, shipped.target)
        else:
            check_launcher(where, data, posixpath.join(prefix, posixpath.dirname(path)), shipped.target)


def _check_licenses(expected: Expected, tree: Tree, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that the licence texts of artifacts lie beside the metadata, too: docs/sdk/metadata.md."""
    patterns = expected.sdk.settings.license_patterns
    wanted = {path for path in tree.shipped if any(matches(path, pattern) for pattern in patterns) and "\\" not in path}
    found = {name.partition("/licenses/")[2]: file[0] for name, file in files.items() if ".dist-info/licenses/" in name}
    if found.keys() != wanted | {"LICENSE"}:
        raise FindingError("licence texts", f"{tree.package.name}: {sorted(found)}; expected {sorted(wanted)}")
    for path in wanted:
        if found[path] != files[f"{tree.package.tree}/{path}"][0]:
            raise FindingError("licence texts", f"{tree.package.name}: {path} is another one")


def check_launcher(where: str, data: bytes, directory: str, target: str) -> None:
    """Check which program a launcher executes, as a path in site-packages."""
    found = re.search(rb"\0([^\0]+)\0{100}", data[64:])
    text = found[1].decode() if found else ""
    if posixpath.normpath(posixpath.join(directory, text)) != target:
        raise FindingError("launcher", f"{where}: executes {text}; expected {target}")


def check_forwarder(where: str, data: bytes, tree: Tree, path: str, target: str) -> None:
    """Check which library a forwarder brings, and for which CPU it is."""
    library = tree.shipped[posixpath.join(posixpath.dirname(path), target)].content
    assert isinstance(library, Elf | Other)
    elf = read_elf(data)
    wanted = (posixpath.basename(path), (target,), library.machine, ("$ORIGIN",))
    if (elf.soname, elf.needed, elf.machine, elf.rpath) != wanted:
        raise FindingError("forwarder", f"{where}: {elf}; expected {wanted}")


def expected_rpath(content: Content, package: Package, path: str) -> tuple[str, ...]:
    """Return the DT_RPATH that a file gets: docs/reference/packages.md, "RPATH entries"."""
    searched = (content.runpath, content.rpath) if isinstance(content, Elf) else ()
    said = next((text for text in searched if text is not None), "")
    here = posixpath.join("/", package.tree, posixpath.dirname(path))
    entries = [entry for entry in said.split(":") if re.match(r"\$(ORIGIN|\{ORIGIN\})(/|$)", entry)]
    if not isinstance(content, Elf) or content.opens or content.needed != ("libc.so.6",):
        entries += [f"$ORIGIN/{posixpath.relpath(f'/{directory}', here)}" for directory in package.rpath]
    return tuple(dict.fromkeys(normal(entry) for entry in entries))


def check_content(where: str, shipped: Shipped, data: bytes, place: tuple[Package, str] | None) -> None:
    """Check the bytes of a file. `place` is the package and the path for which its RPATH is made; None: any."""
    content = shipped.content
    assert content is not None
    source = content.build()
    searches = isinstance(content, Elf) or is_form(content, Form.FAT_LIBRARY)
    if isinstance(content, Other) and content.has_code and not shipped.data:
        check_code(where, content, data, place)
        if not searches and place and place[0].slice:
            return
    if data == source and (place is None or not searches or shipped.data):
        return
    if not searches or shipped.data:
        raise FindingError("content", f"{where}: other bytes than {content}")
    came, was = read_elf(data), read_elf(source)
    fields = ("machine", "kind", "soname", "needed", "interpreter", "symbols", "bytes")
    if place and place[0].slice:
        came, was = (
            replace(one, bytes=tuple(pair for pair in one.bytes if pair[0] != ".hip_fatbin")) for one in (came, was)
        )
    if wrong := [name for name in fields if getattr(came, name) != getattr(was, name)]:
        raise FindingError("patched file", f"{where}: {wrong}: {came}; expected {was}")
    rpath = tuple(map(normal, came.rpath or ()))
    if came.runpath is not None or (place and rpath != expected_rpath(content, *place)):
        wanted = expected_rpath(content, *place) if place else "no DT_RUNPATH"
        raise FindingError("RPATH", f"{where}: {came.rpath} and DT_RUNPATH {came.runpath}; expected {wanted}")


def check_code(where: str, content: Other, data: bytes, place: tuple[Package, str] | None) -> None:
    """Check that a file has just the code objects that its package's GPUs can load, byte for byte, in their order."""
    bundles = bundles_of(data)
    before = bundles_of(content.build())
    if len(bundles) != len(before):
        raise FindingError("bundles", f"{where}: {len(bundles)}; expected {len(before)}")
    kept = kept_code(place[0], "", content) if place else content.targets
    for part, (bundle, was) in enumerate(zip(bundles, before, strict=True)):
        wanted = [
            entry
            for entry, target in zip(content.code(part), ("", *content.targets), strict=True)
            if target in ("", *kept)
        ]
        version, entries = read_bundle(bundle)
        if (version, entries) != (read_bundle(was)[0], wanted):
            raise FindingError("device code", f"{where}: bundle {part}: {version}, {entries}; expected {wanted}")


# What was installed


def _install(files: Mapping[str, tuple[bytes, int]], site: Path) -> None:
    """Install a wheel as pip does."""
    for name, (data, mode) in files.items():
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            raise FindingError("file of two wheels", name)
        place.write_bytes(data)
        place.chmod(mode & 0o777)


def check_installed(expected: Expected, site: Path) -> None:
    """Check the installed trees together: the devel tree, and what the loader finds; raises FindingError."""
    for tree in expected.trees.values():
        if tree.package.kind == "devel":
            thin = [one for one in expected.trees.values() if one.package.slice]
            for one in thin:
                others = [other for other in thin if other is not one]
                _check_devel(expected, tree, _made(_alone(site, one, others), tree), [one, *others])
            if not thin:
                _check_devel(expected, tree, _made(site, tree))
        elif tree.package.kind == "runtime":
            for path, shipped in tree.shipped.items():
                if isinstance(shipped.content, Elf) and not shipped.data:
                    _check_loads(expected, tree, path, site)


def _alone(site: Path, thin: Tree, others: list[Tree]) -> Path:
    """Return what is installed with one of the packages per GPU target, and not with the others."""
    alone = site.with_name(f"{site.name} with {thin.package.name}")
    shutil.copytree(site, alone, symlinks=True)
    for other in others:
        (record,) = alone.glob(f"{other.package.distribution.replace('-', '_')}-*.dist-info/RECORD")
        for row in csv.reader(io.StringIO(record.read_text(encoding="utf-8"), newline="")):
            (alone / row[0]).unlink()
    return alone


def _made(site: Path, devel: Tree) -> Path:
    """Make the links of the devel tree with the program that users have, twice; return the tree."""
    package = str(site / devel.package.import_name)
    root = DevelTree(package, command="x").root()
    links = DevelTree(package, command="x")
    if root != links.root(verify=True) or links.faults():
        raise FindingError("devel: faults", f"{root}: {links.faults()}")
    return Path(root)


def _is_for_some(path: str, node: Node, thin: list[Tree]) -> bool:
    """Whether a path is in some packages per GPU target, and not in others."""
    return any(
        path in one.own
        and one.wants(path)
        and (one.goes_elsewhere(path, node) if isinstance(node, File) else one.is_others(path))
        for one in thin
    )


def is_anywhere(expected: Expected, devel: Tree, real: str) -> bool:
    """Whether the devel tree has a path of the prefix, or a package that it builds on."""
    below = [expected.trees[name] for name in devel.package.builds_on]
    if isinstance(devel.own.get(real), Directory):
        return devel.wants(real) or any(path.startswith(f"{real}/") and devel.wants(path) for path in devel.own)
    return devel.wants(real) or any(real in one.shipped for one in below)


def _check_devel_path(tree: Tree, root: Path, thin: list[Tree], path: str, real: str) -> None:
    """Check what a path of the devel tree is, which leads to `real`; `thin` is a package per GPU target, if any."""
    place, file = root / path, tree.file(real)
    if file is None or place.is_dir():
        if file is None and not place.is_symlink() and not (root / real).exists():
            return  # No wheel can hold an empty directory.
        if file is not None or not (place.is_dir() and place.resolve() == (root / real).resolve()):
            raise FindingError("devel: directory", f"{path}: {tree.own[path]}")
        return
    launcher = thin[0].shipped.get(os.path.relpath(place.resolve(), root.resolve())) if thin else None
    if launcher and launcher.content is None and thin[0].package.tree in launcher.target:
        # Left out of the tree, but of all that is installed for a GPU target there is a link.
        if launcher.target != f"{thin[0].package.tree}/{real}":
            raise FindingError("devel: launcher", f"{path} executes {launcher.target}; expected {real}")
        return
    if thin and real in thin[0].own and thin[0].wants(real) and has_code(real, file.content):
        assert isinstance(file.content, Other)
        check_code(f"devel: {path}", file.content, place.read_bytes(), (thin[0].package, real))
    else:
        check_content(f"devel: {path}", Shipped(file.content, data=real.endswith(DATA)), place.read_bytes(), None)
    # A file that is linked to has the mode that its package gave it; for a link, that may have a copy of the library.
    linked = thin[0].shipped.get(real if place.is_symlink() else path) if thin else None
    if linked and linked.is_forwarder:
        linked = None  # forwarders of its packages do not come into the tree
    is_alias = place.resolve().name != posixpath.basename(real)
    is_others = place.stat().st_nlink > 1
    if is_alias or is_others or not tree.wants(real):
        return  # a library under its SONAME, or what is left out here: the package that has it decides about the mode
    if bool(place.stat().st_mode & 0o100) != (linked or file).executable:
        raise FindingError("devel: mode", f"{path}: {place.stat().st_mode:o}; expected of {file}")


def _check_devel(expected: Expected, tree: Tree, root: Path, thin: list[Tree] | None = None) -> None:
    """Check that the devel tree is as the artifacts are: each path, its content, its mode, and where links lead.

    `thin` are packages per GPU target; the first is installed.
    """
    thin = thin or []
    for path, node in sorted(tree.own.items()):
        if not tree.wants(path):
            continue
        place, real = root / path, tree.resolve(path)
        target = tree.own.get(real or "")
        if (
            target
            and (_is_for_some(path, node, thin) or _is_for_some(real or "", target, thin))
            and (real not in thin[0].shipped or thin[0].shipped[real].is_forwarder)
        ):
            continue
        if thin and thin[0].is_others(path) and not place.exists():
            continue  # its name says that it is for other GPUs: it comes with their package
        if real is None:
            if place.is_symlink() or place.exists():
                raise FindingError("devel: dangling link", f"{path} -> {tree.own[path]}")
            continue
        is_open = tree.file(real) is None and not (root / real).exists()  # A directory of nothing.
        if not place.exists() and not place.is_symlink() and (is_open or not is_anywhere(expected, tree, real)):
            continue
        if not place.exists():
            there = f"leads to {place.readlink()}" if place.is_symlink() else "is missing"
            raise FindingError("devel: path is not there", f"{path}: {node} {there}")
        _check_devel_path(tree, root, thin[:1], path, real)
    names = {str(place.relative_to(root)) for place in root.rglob("*")} - {f".{tree.package.distribution}"}
    if extra := sorted(names - set(tree.own)):
        raise FindingError("devel: extra path", extra[0])


def _check_loads(expected: Expected, tree: Tree, path: str, site: Path) -> None:
    """Check that the loader finds each library that it would find in the prefix, of those that are shipped."""
    place = site / tree.package.tree / path
    elf = read_elf(place.read_bytes())
    searched = [entry.replace("$ORIGIN", str(place.parent)) for entry in map(normal, elf.rpath or ())]
    for needed in elf.needed:
        wanted = [_in_prefix(expected, tree, directory, needed, elf.machine) for directory in tree.package.rpath]
        if any(wanted) and not any(_is_loadable(Path(one) / needed, needed, elf.machine) for one in searched):
            raise FindingError("need does not resolve", f"{tree.package.name}: {path} needs {needed}; {elf.rpath}")


def _in_prefix(expected: Expected, tree: Tree, directory: str, needed: str, machine: int) -> bool:
    """Whether a directory of the prefix has a library of that SONAME, and a package ships it."""
    owner, _, inside = directory.partition("/")
    path = f"{inside}/{needed}"
    there = [one for one in expected.trees.values() if one.package.tree == owner and path in one.own]
    if not there:
        return False
    of = there[0]
    real = of.resolve(path) if of.wants(path) else None
    file = of.file(real) if real else None
    if not real or not file or not isinstance(file.content, Elf):
        return False
    is_it = file.content.soname in (None, needed) and file.content.machine == machine and not file.content.program
    return is_it and any(one.wants(real) for one in expected.trees.values() if real in one.own)


def _is_loadable(place: Path, needed: str, machine: int) -> bool:
    if not place.is_file():
        return False
    elf = read_elf(place.read_bytes())
    return elf.machine == machine and elf.soname in (None, needed)


def check_index(expected: Expected, wheels: Mapping[str, Path], index: Path) -> None:
    """Check that the index lists each wheel with its digest and its metadata's: PEP 503, 658, 691."""
    for package in expected.sdk.packages:
        wheel = wheels[package.name]
        page = index / "simple" / package.distribution
        listed = json.loads((page / "index.json").read_text(encoding="utf-8"))["files"]
        data = wheel.read_bytes()
        metadata = (index / f"{wheel.name}.metadata").read_bytes()
        with zipfile.ZipFile(wheel) as archive:
            inside = next(archive.read(name) for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        facts = {
            "files": ([one["filename"] for one in listed], [wheel.name]),
            "digest": ([one["hashes"]["sha256"] for one in listed], [hashlib.sha256(data).hexdigest()]),
            "metadata": (metadata, inside),
            "core-metadata": ([one["core-metadata"]["sha256"] for one in listed], [hashlib.sha256(inside).hexdigest()]),
            "bytes": ((index / wheel.name).read_bytes(), data),
            "page": (hashlib.sha256(data).hexdigest() in (page / "index.html").read_text(encoding="utf-8"), True),
        }
        for what, (found, wanted) in facts.items():
            if found != wanted:
                raise FindingError("index", f"{wheel.name}: {what}: {found!r}; expected {wanted!r}")
