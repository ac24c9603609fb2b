"""The digest of an artifact is of everything that reaches packages, and of nothing else."""

import json
from pathlib import Path
from typing import Any

from tools.actions.material.tool import main

FILE = {"base": "stage", "path": "lib/a.so", "kind": "file", "mode": "0755", "file": "files/a"}
LINK = {"base": "stage", "path": "lib/b.so", "kind": "link", "target": "a.so"}
DIRECTORY = {"base": "stage", "path": "empty", "kind": "directory", "mode": "0755"}


def digested(folder: Path, entries: list[dict[str, Any]], content: bytes = b"ELF", *more: str) -> dict[str, str]:
    """Return the digests of an artifact with these entries."""
    (folder / "manifest.json").write_text(json.dumps({"artifact": "core_lib_generic", "entries": entries}))
    (folder / "a").write_bytes(content)
    located = [f"--file=files/a={folder / 'a'}"] if FILE["file"] in [one.get("file") for one in entries] else []
    known = [f"--manifest={folder / 'manifest.json'}", "--name=artifact core_lib_generic"]
    output = folder / "material.json"
    assert main(["--label=//:core", *known, *located, *more, f"--output={output}"]) == 0
    document = json.loads(output.read_text())
    assert document["name"] == "artifact core_lib_generic"
    return dict(document["digest"])


def test_content_modes_links_and_directories_count(tmp_path: Path) -> None:
    entries: list[dict[str, Any]] = [FILE, LINK, DIRECTORY]
    made = [
        digested(tmp_path, entries),
        digested(tmp_path, entries, b"ELF2"),
        digested(tmp_path, [FILE | {"mode": "0644"}, LINK, DIRECTORY]),
        digested(tmp_path, [FILE, LINK | {"target": "c.so"}, DIRECTORY]),
        digested(tmp_path, [FILE, LINK]),
        digested(tmp_path, [FILE | {"base": "other"}, LINK, DIRECTORY]),
        digested(tmp_path, [LINK, DIRECTORY]),
    ]
    assert len({one["artifactManifest"] for one in made}) == len(made)
    assert all(one.keys() == {"artifactManifest"} for one in made)


def test_the_order_of_entries_and_places_of_files_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert digested(tmp_path, [FILE, LINK]) == digested(tmp_path / "other", [LINK, FILE])


def test_the_digest_of_an_archive_stands_beside_it(tmp_path: Path) -> None:
    found = digested(tmp_path, [FILE], b"ELF", "--archive-sha256=" + "5" * 64)
    assert found["sha256"] == "5" * 64
    assert found["artifactManifest"] == digested(tmp_path, [FILE])["artifactManifest"]


def test_files_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    output = tmp_path / "material.json"
    assert main(["--label=//:p", "--name=python files", f"--file=lib/a={tmp_path / 'a'}", f"--output={output}"]) == 0
    assert json.loads(output.read_text())["digest"].keys() == {"artifactManifest"}
