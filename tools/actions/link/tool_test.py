"""Tests of the link tool: from a plan, segments and small files to a wheel, its metadata and its digest."""

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.metadata import Metadata

from develop.testing.artifacts import file, library, link, plan, program
from lib.common.program import ToolError
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Definition, Found, Plan, Treatment
from lib.wheel.deflated_run import small_run
from tools.actions.link.tool import console_scripts, main
from tools.actions.platform_tag.needs import TagReport

CORE = Definition("core", "runtime", "_core")
DEVEL = Definition("devel", "devel", "_devel")
FOUND = (
    program("bin/tool"),
    link("bin/other", "tool"),
    library("lib/liba.so.1", "liba.so.1"),
    link("lib/liba.so", "liba.so.1"),
    file("share/ï", mode="0444"),
)
PROJECT = {
    "distribution": "rocm-sdk-core",
    "version": "7.10.0",
    "summary": "S",
    "requires_python": ">=3.9",
    "license_expression": "MIT",
    "license_files": ["LICENSE"],
}
SCRIPTS = [
    {"script": "tool", "path": "bin/tool"},
    {"script": "oth-er++", "path": "bin/other"},
    {"script": "absent", "path": "bin/absent"},
]


class Wheel:
    """The inputs of a wheel in a directory, and what link makes of them."""

    def __init__(self, directory: Path, made: Plan) -> None:
        self.directory = directory
        self.plan = made
        self.name = "rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl"
        self.scripts: Any = SCRIPTS

    def content(self, path: str) -> bytes:
        """Make up the content of a packed file."""
        return f"content of {path}\n".encode() * 9

    def write(self, name: str, document: Any) -> None:
        """Write an input as JSON."""
        (self.directory / name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")

    def segment(self) -> None:
        """Write segment and index, as pack does."""
        entries, segment = [], b""
        for entry in self.plan.entries:
            if entry.is_packed_file:
                content = self.content(entry.path)
                run, digest = small_run(content), hashlib.sha256(content).hexdigest()
                entries.append(Packed(entry.path, entry.mode, len(segment), run.length, run.size, run.crc32, digest))
                segment += run.data
        (self.directory / "segment").write_bytes(segment)
        self.write("index", SegmentIndex(tuple(entries), {}).to_document())

    def link(self, *options: str, project: dict[str, Any] = PROJECT, external: Sequence[str] = ()) -> int:
        """Run the tool; return its exit code."""
        self.segment()
        needed = {library: {"": "lib/liba.so.1"} for library in external}
        self.write("platform-tag", TagReport("rocm-sdk-core", "linux_x86_64", external=needed).to_document())
        self.write("project", project)
        self.write("plan", self.plan.to_document())
        self.write("scripts", self.scripts)
        (self.directory / "description").write_text("# Readme ï\n", encoding="utf-8")
        (self.directory / "glue").write_bytes(b"GLUE = True\n")
        arguments = ["--label=//:core_wheel", "--tag=py3-none-linux_x86_64", f"--wheel={self.directory}/{self.name}"]
        names = ("project", "plan", "platform-tag", "index", "segment", "description", "metadata", "digest")
        arguments += [f"--{name}={self.directory}/{name}" for name in names]
        files = ["rocm_sdk_core/__init__.py", "{dist_info}/licenses/LICENSE"]
        (self.directory / "params").write_text(
            "\n".join([*arguments, *options, *(f"--file={name}={self.directory}/glue" for name in files)]) + "\n"
        )
        return main([f"@{self.directory}/params"])

    def zip(self) -> zipfile.ZipFile:
        """Open the wheel; its CRCs have to be right."""
        archive = zipfile.ZipFile(self.directory / self.name)
        assert archive.testzip() is None
        return archive


def wheel(directory: Path, definition: Definition = CORE, *found: Found, builds_on: tuple[Plan, ...] = ()) -> Wheel:
    return Wheel(directory, plan(definition, *(found or FOUND), builds_on=builds_on, name="core_lib_generic"))


def test_libraries_that_users_must_have_are_in_the_metadata(tmp_path: Path) -> None:
    made = wheel(tmp_path)
    opened = PROJECT | {"requires_external": ["libcuda.so.1", "libnuma.so.1"]}
    assert made.link(external=["libdrm.so.2", "libnuma.so.1"], project=opened) == 0
    metadata = Metadata.from_email((tmp_path / "metadata").read_bytes(), validate=True)
    assert metadata.requires_external == ["libdrm.so.2", "libnuma.so.1", "libcuda.so.1"]


def test_runtime_wheel(tmp_path: Path) -> None:
    made = wheel(tmp_path)
    assert made.link(f"--console-scripts={tmp_path}/scripts", "--import-name=rocm_sdk_core") == 0
    info = "rocm_sdk_core-7.10.0.dist-info"
    with made.zip() as archive:
        assert archive.namelist() == [
            "_core/.rocm-sdk-core",
            "_core/bin/other",
            "_core/bin/tool",
            "_core/lib/liba.so",
            "_core/lib/liba.so.1",
            "_core/share/ï",
            "rocm_sdk_core/__init__.py",
            f"{info}/METADATA",
            f"{info}/WHEEL",
            f"{info}/entry_points.txt",
            f"{info}/licenses/LICENSE",
            f"{info}/RECORD",
        ]
        assert archive.read("_core/lib/liba.so.1") == made.content("lib/liba.so.1")
        assert archive.read("rocm_sdk_core/__init__.py") == b"GLUE = True\n"
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o7777 for name in archive.namelist()}
        assert {modes["_core/bin/other"], modes["_core/bin/tool"]} == {0o755}
        assert (modes["_core/share/ï"], modes[f"{info}/RECORD"]) == (0o444, 0o644)
        assert archive.read(f"{info}/WHEEL").decode().splitlines()[-1] == "Tag: py3-none-linux_x86_64"
        assert archive.read(f"{info}/entry_points.txt").decode() == (
            "[console_scripts]\noth-er++ = rocm_sdk_core._cli:oth_erxx\ntool = rocm_sdk_core._cli:tool\n"
        )
        metadata = archive.read(f"{info}/METADATA")
    assert (tmp_path / "metadata").read_bytes() == metadata
    assert Metadata.from_email(metadata, validate=True).description == "# Readme ï\n"
    content = (tmp_path / made.name).read_bytes()
    assert json.loads((tmp_path / "digest").read_text()) == {
        "filename": made.name,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def test_licence_texts_of_artifacts_are_in_the_tree_and_beside_the_metadata(tmp_path: Path) -> None:
    made = wheel(tmp_path, CORE, *FOUND, file("share/doc/hip/LICENSE.txt"), file("share/doc/README"))
    assert made.link("--license-pattern=share/doc/**/LICENSE*", "--license-pattern=share/doc/**/copyright") == 0
    info = "rocm_sdk_core-7.10.0.dist-info"
    with made.zip() as archive:
        texts = [name for name in archive.namelist() if name.startswith(f"{info}/licenses/")]
        assert texts == [f"{info}/licenses/LICENSE", f"{info}/licenses/share/doc/hip/LICENSE.txt"]
        assert archive.read(texts[1]) == archive.read("_core/share/doc/hip/LICENSE.txt") != b""
        parsed = Metadata.from_email(archive.read(f"{info}/METADATA"), validate=True)
        assert parsed.license_files == ["LICENSE", "share/doc/hip/LICENSE.txt"]
        # What the packages of an installer and of pip check: RECORD has the copy with its digest.
        digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(texts[1])).digest()).rstrip(b"=").decode()
        assert f"{texts[1]},sha256={digest}," in archive.read(f"{info}/RECORD").decode()


def test_licence_texts_inside_a_devel_archive(tmp_path: Path) -> None:
    made = wheel(tmp_path, DEVEL, file("share/doc/prim/LICENSE"))
    options = ("--devel=tar", "--import-name=rocm_sdk_devel", "--license-pattern=share/doc/**/LICENSE*")
    assert made.link(*options) == 0
    with made.zip() as archive:
        text = archive.read("rocm_sdk_core-7.10.0.dist-info/licenses/share/doc/prim/LICENSE")
    assert text == made.content("share/doc/prim/LICENSE")


def test_no_entry_points_without_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(tmp_path, CORE, file("share/a"))
    assert made.link(f"--console-scripts={tmp_path}/scripts", "--import-name=m") == 0
    assert capsys.readouterr().err == (
        f"NOTE: //:core_wheel: 3 tools of console scripts of {tmp_path}/scripts are left out, because the package does "
        "not ship them: tool (bin/tool), oth-er++ (bin/other), absent (bin/absent). Correct the paths, or add "
        '`"optional": true` to what an SDK need not have\n'
    )
    with made.zip() as archive:
        assert not any(name.endswith("entry_points.txt") for name in archive.namelist())


def test_what_an_sdk_need_not_have_is_left_out_in_silence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(tmp_path, CORE, file("share/a"))
    scripts = [{"script": f"tool{number}", "path": f"bin/{number}", "optional": True} for number in range(30)]
    (tmp_path / "optional").write_text(json.dumps(scripts))
    assert made.link(f"--console-scripts={tmp_path}/optional", "--import-name=m") == 0
    assert capsys.readouterr().err == ""


def test_python_packages_of_the_tree_can_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(
        tmp_path, CORE, *(file(f"share/py/{name}/__init__.py") for name in ("one", "two")), file("share/bad/a")
    )
    rows = [("one", "share/py"), ("two", "share/py"), ("bad", "share"), ("absent", "share/py")]
    packages = tmp_path / "packages"
    packages.write_text(json.dumps([{"package": name, "path": path} for name, path in rows]))
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 0
    assert capsys.readouterr().err == (
        f"NOTE: //:core_wheel: 2 Python packages of {packages} are left out, because the package does not ship them: "
        "bad (share), absent (share/py). Correct the paths, or add "
        '`"optional": true` to what an SDK need not have\n'
    )
    with made.zip() as archive:
        assert archive.read("rocm_sdk_core.pth") == b"_core/share/py\n"
    packages.write_text(
        json.dumps(
            [
                {"package": "one", "path": "share/py", "requires": ["pyelftools>=0.31"]},
                {"package": "absent", "path": "share/py", "requires": ["nosuch"]},
            ]
        )
    )
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 0
    with made.zip() as archive:
        metadata = archive.read("rocm_sdk_core-7.10.0.dist-info/METADATA").decode()
        assert metadata.count("\nRequires-Dist: ") == metadata.count("\nRequires-Dist: pyelftools>=0.31\n") == 1
    assert metadata == (tmp_path / "metadata").read_text()
    packages.write_text('[{"package": "one", "path": "share/py", "requires": ["not a requirement"]}]')
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 1
    assert "not a requirement" in capsys.readouterr().err
    packages.write_text('[{"package": "one", "path": "share/py", "requires": "pyelftools"}]')
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 1
    assert "expected `requires` to be a list of requirements" in capsys.readouterr().err
    packages.write_text("[]")
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 0
    with made.zip() as archive:
        assert "rocm_sdk_core.pth" not in archive.namelist()
    packages.write_text('[{"script": "one", "path": "bin/one"}]')
    assert made.link(f"--python-packages={packages}", "--import-name=rocm_sdk_core") == 1
    assert "expected a JSON list of objects with a `package` of a name of its own" in capsys.readouterr().err


def test_a_console_script_for_windows_starts_an_exe_whatever_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "scripts"
    path.write_text(json.dumps([{"script": name, "path": f"bin/{name}"} for name in ("tool", "script")]))
    found = plan(CORE, file("bin/tool.exe", "other", mode="0644"), file("bin/script", "script", mode="0644"))
    assert console_scripts(str(path), "m._cli", found, "//:w", is_windows=True) == [("tool", "m._cli:tool")]


def test_a_console_script_whose_tool_may_not_be_executed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = wheel(tmp_path, CORE, file("bin/tool", "script", mode="0644"))
    assert made.link(f"--console-scripts={tmp_path}/scripts", "--import-name=m") == 1
    assert capsys.readouterr().err == (
        "ERROR: //:core_wheel: console script tool: bin/tool, which it starts, is not executable (mode 0644); "
        "expected mode 0755. Set the mode in the artifact, or take the script out of `console_scripts`\n"
    )


def test_a_console_script_with_a_name_that_no_function_can_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scripts"
    path.write_text('[{"script": "tool-1.0", "path": "bin/tool"}]')
    found = plan(CORE, file("bin/tool", "program", mode="0755"))
    expected = r"^console script tool-1\.0: .* called tool_1\.0, which is no Python identifier"
    with pytest.raises(ToolError, match=expected):
        console_scripts(str(path), "m._cli", found, "//:w")


@pytest.mark.parametrize(
    "scripts",
    [{}, ["tool"], [{"script": "tool"}], [{"script": "tool", "path": 1}], [{"script": "tool", "path": "a"}] * 2],
    ids=["no list", "no object", "no path", "no text", "one twice"],
)
def test_a_list_of_console_scripts_that_is_none_is_refused(
    scripts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = wheel(tmp_path)
    made.scripts = scripts
    assert made.link(f"--console-scripts={tmp_path}/scripts", "--import-name=m") == 1
    assert capsys.readouterr().err == (
        f"ERROR: //:core_wheel: {tmp_path}/scripts: expected a JSON list of objects with a `script` of a name of its "
        "own, and its `path`. Correct the file that `console_scripts` names\n"
    )


LINKS = {
    "bin/other": "tool",
    "bin/tool": "../../_core/bin/tool",
    "lib/liba.so": "liba.so.1",
    "lib/liba.so.1": "../../_core/lib/liba.so.1",
    "lib64": "lib",
    "share/ï": "../../_core/share/ï",
}


@pytest.mark.parametrize("kind", ["none", "tar"])
def test_devel_wheel_has_files_and_a_manifest_of_links(tmp_path: Path, kind: str) -> None:
    found = (*FOUND, file("include/a.h"), link("lib64", "lib"))
    gpu = Definition("device_gfx942", "runtime", "_libraries", per_target=True)
    builds_on = (plan(CORE, *FOUND), plan(gpu, file("share/gpu")))
    made = wheel(tmp_path, DEVEL, *found, builds_on=builds_on)
    assert made.link(f"--devel={kind}", "--import-name=rocm_sdk_devel") == 0
    with made.zip() as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {f"rocm_sdk_devel/.devel_links/devel.{name}" for name in ("json", "journal")}
        files = {"_devel/include/a.h", "_devel/.rocm-sdk-core"} if kind == "none" else {f"rocm_sdk_devel/_devel.{kind}"}
        assert names == {"rocm_sdk_core/__init__.py", *about, *files}
        document = json.loads(archive.read("rocm_sdk_devel/.devel_links/devel.json"))
        assert document == {
            "version": "7.10.0",
            "tree": "_devel",
            "trees": ["_libraries"],
            **({} if kind == "none" else {"files": ["include/a.h"]}),
            "links": [{"relpath": path, "target": text} for path, text in LINKS.items()],
        }
        assert archive.read("rocm_sdk_devel/.devel_links/devel.journal") == b""
        content = archive.read(max(files))
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record = archive.read("rocm_sdk_core-7.10.0.dist-info/RECORD").decode().splitlines()
        assert f"{max(files)},sha256={digest},{len(content)}" in record
    if kind != "none":
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            assert tar.getnames() == ["_devel/include/a.h"]
            header = tar.extractfile("_devel/include/a.h")
            assert header
            content = header.read()
    assert content == made.content("include/a.h")


def test_a_package_per_target_lists_what_the_devel_tree_links_to(tmp_path: Path) -> None:
    definition = Definition("libraries_gfx942", "runtime", "_core", per_target=True)
    made = wheel(tmp_path, definition)
    assert made.link(f"--file={{tree}}/__init__.py={tmp_path}/glue") == 0
    packed = [one for one in made.plan.entries if one.is_packed_file]
    wanted = [one.path for one in packed if one.treatment is not Treatment.FORWARDER]
    with made.zip() as archive:
        document = json.loads(archive.read("_core/.devel_links/rocm-sdk-core.json"))
    links = [{"relpath": path, "target": "../" * (path.count("/") + 1) + f"_core/{path}"} for path in sorted(wanted)]
    assert document == {"version": "7.10.0", "links": links}
    assert len(wanted) > 2


@pytest.mark.parametrize("kind", [None, "none", "tar"])
def test_the_same_bytes_in_another_directory(tmp_path: Path, kind: str | None) -> None:
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made = wheel(tmp_path / name, DEVEL if kind else CORE)
        assert made.link(*([f"--devel={kind}", "--import-name=d"] if kind else [])) == 0
        contents.append((tmp_path / name / made.name).read_bytes())
    assert contents[0] == contents[1]


def test_a_bad_version_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wheel(tmp_path).link(project=PROJECT | {"version": "banana"}) == 1
    assert capsys.readouterr().err == (
        "ERROR: //:core_wheel: rocm-sdk-core: 'banana' is not a version that PEP 440 knows; expected one like "
        "7.10.0, 7.10.0rc2 or 7.10.0.dev0. Set `version`\n"
    )


def test_a_file_of_the_tree_may_not_be_given_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wheel(tmp_path).link(f"--file=_core/bin/tool={tmp_path}/glue") == 1
    assert "_core/bin/tool: twice in one wheel" in capsys.readouterr().err


def test_small_files_in_the_tree(tmp_path: Path) -> None:
    """One is at a path that the package has nowhere, the other where a file is left out."""
    made = wheel(tmp_path, Definition("core", "runtime", "_core", exclude=("share/*",)))
    assert made.link(*(f"--file={{tree}}/{path}={tmp_path}/glue" for path in ("__init__.py", "share/ï"))) == 0
    with made.zip() as archive:
        assert archive.read("_core/share/ï") == b"GLUE = True\n"
        assert archive.read("_core/__init__.py") == b"GLUE = True\n"
        assert archive.getinfo("_core/__init__.py").external_attr >> 16 & 0o7777 == 0o644
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"GLUE = True\n").digest()).rstrip(b"=").decode()
        record = archive.read("rocm_sdk_core-7.10.0.dist-info/RECORD").decode().splitlines()
        assert f"_core/__init__.py,sha256={digest},12" in record


def test_a_small_file_in_the_tree_of_a_devel_package(tmp_path: Path) -> None:
    made = wheel(tmp_path, DEVEL, file("include/a.h"))
    assert made.link("--devel=tar", "--import-name=d", f"--file={{tree}}/__init__.py={tmp_path}/glue") == 0
    with made.zip() as archive, tarfile.open(fileobj=io.BytesIO(archive.read("d/_devel.tar"))) as tar:
        assert not any(name.startswith("_devel/") for name in archive.namelist())
        added = tar.extractfile("_devel/__init__.py")
        assert added
        assert added.read() == b"GLUE = True\n"


def test_a_small_file_at_a_path_of_the_tree_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wheel(tmp_path).link(f"--file={{tree}}/bin/tool={tmp_path}/glue") == 1
    assert capsys.readouterr().err == (
        f"ERROR: //:core_wheel: bin/tool: `files` places {tmp_path}/glue there, but package core has this path "
        "already; expected one file per path. Give it another path, or exclude the package's\n"
    )
