"""Tests of what the catalog says about input that cannot be used: the thing and the remedy, in one line."""

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.fetch.catalog.catalog import main


class BadInput:
    """An artifacts directory with one artifact, `a_lib_generic`."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root / "artifacts"
        self.folder = self.root / "a_lib_generic"
        self.stage = self.folder / "stage"
        self.manifest = self.folder / "artifact_manifest.txt"
        self.output = root / "repository"
        self._capsys = capsys
        self.stage.mkdir(parents=True)
        self.output.mkdir()
        self.manifest.write_text("stage\n")

    def error(self, directory: Path | None = None) -> str:
        """Scan; return the message, which has to be one line with nothing written."""
        named = [f"--artifacts={directory or self.root}", "--named-by=MY_DIRECTORY"]
        assert main([*named, "--repository=r", f"--output={self.output}"]) == 1
        assert not list(self.output.iterdir())
        error = self._capsys.readouterr().err
        assert error.endswith("\n")
        assert error.count("\n") == 1
        return error.rstrip("\n")


@pytest.fixture
def bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> BadInput:
    return BadInput(tmp_path, capsys)


CANNOT_BE_READ = (
    "MY_DIRECTORY={}: cannot be read ({}); expected the absolute path of a directory of artifact folders or archives. "
    "Change MY_DIRECTORY"
)


def test_missing_directory(bad: BadInput) -> None:
    missing = bad.root / "missing"
    assert bad.error(missing) == CANNOT_BE_READ.format(missing, "No such file or directory")


def test_file_instead_of_a_directory(bad: BadInput) -> None:
    assert bad.error(bad.manifest) == CANNOT_BE_READ.format(bad.manifest, "Not a directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_unreadable_directory(bad: BadInput) -> None:
    bad.root.chmod(0)
    try:
        assert bad.error() == CANNOT_BE_READ.format(bad.root, "Permission denied")
    finally:
        bad.root.chmod(0o755)


@pytest.mark.parametrize("mode", [0, 0o444, 0o311], ids="{:04o}".format)
@pytest.mark.parametrize("name", [".", "a_lib_generic", "a_lib_generic/stage", "a_lib_generic/stage/lib"])
def test_a_directory_that_nobody_may_read(bad: BadInput, name: str, mode: int) -> None:
    """Not even root, who may: what is refused does not depend on who builds. Others were told of another fault."""
    (bad.stage / "lib").mkdir()
    directory = bad.root / name
    if os.geteuid() and name == ".":
        pytest.skip("then it cannot be listed: test_unreadable_directory")
    directory.chmod(mode)
    try:
        assert bad.error() == f"{directory}: cannot be read (mode {mode:04o}); make it readable: chmod a+rx"
    finally:
        directory.chmod(0o755)


def test_a_directory_above_a_base_directory(bad: BadInput) -> None:
    (bad.folder / "math/lib/stage").mkdir(parents=True)
    bad.manifest.write_text("math/lib/stage\n")
    (bad.folder / "math").chmod(0o611)
    try:
        assert bad.error() == (
            f"{bad.folder}/math: cannot be read (mode 0611); make it readable: chmod a+rx"
            if os.geteuid() == 0
            else f"{bad.folder}/math/lib/stage: Permission denied; check its permissions"
        )
    finally:
        (bad.folder / "math").chmod(0o755)


def test_an_archive_that_cannot_be_read(bad: BadInput) -> None:
    """Bazel watches archives, and said only `Permission denied`. Root may read them, without a sandbox."""
    archive = bad.root / "b_lib_generic.tar.gz"
    archive.touch()
    archive.chmod(0)
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    options = [f"--artifacts={bad.root}", f"--archived={archive.name}=r.b", f"--output={bad.output}"]
    ended = subprocess.run(
        [*drop, sys.executable, "-m", main.__module__, *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = f"{archive}: cannot be read (mode 0000); make it readable: chmod a+r\n"
    assert (ended.returncode, ended.stderr) == (1, expected)


def test_no_artifacts(bad: BadInput) -> None:
    empty = bad.root.parent / "empty"
    empty.mkdir()
    (empty / "file").touch()
    expected = (
        f"MY_DIRECTORY={empty}: no artifacts: neither folders ({{name}}_{{component}}_{{target}}) nor "
        "archives (.tar.zst, .tar.xz, .tar.gz)"
    )
    assert bad.error(empty) == expected


@pytest.mark.parametrize(
    ("target", "expected"), [("gfx90a-xnack+", "gfx90a:xnack+"), ("gfx942-sramecc+-xnack-", "gfx942:sramecc+:xnack-")]
)
def test_features_after_a_hyphen(bad: BadInput, target: str, expected: str) -> None:
    folder = bad.root / f"blas_lib_{target}"
    folder.mkdir()
    assert bad.error() == (
        f"{folder}: the target {target} has features after '-'; expected {expected}. Rename it to blas_lib_{expected}"
    )


@pytest.mark.parametrize("name", ["a_lib", "a_lib_x_y", "a_libs_generic", "_lib_generic", "a_lib_", "plain"])
def test_folder_that_is_no_artifact(bad: BadInput, name: str) -> None:
    (bad.root / name).mkdir()
    assert bad.error() == (
        f"{bad.root}/{name}: expected a folder named {{name}}_{{component}}_{{target}} with a component of lib, run, "
        "dev, dbg, doc, test; rename it, or move it out of the artifacts directory"
    )


def test_no_manifest(bad: BadInput) -> None:
    bad.manifest.unlink()
    assert bad.error() == (
        f"{bad.folder}: no artifact_manifest.txt in it; each artifact lists its base directories there, one a line. "
        "Replace the artifact, or move the folder out of the artifacts directory"
    )


@pytest.mark.parametrize(
    ("base", "file"),
    [("artifact_manifest.txt", "artifact_manifest.txt"), ("gone/below/stage", "gone"), ("stage/file/x", "stage/file")],
)
def test_manifest_names_what_is_no_directory(bad: BadInput, base: str, file: str) -> None:
    (bad.folder / "gone").symlink_to("nowhere")
    (bad.stage / "file").touch()
    bad.manifest.write_text(f"stage\n{base}\n")
    assert bad.error() == f"{bad.manifest}: names {base!r}, but {bad.folder / file} is not a directory; replace it"


@pytest.mark.parametrize("text", ["\ufeffstage\n", "# the base directories\nstag\n", "stage # all\n", "Stage\n"])
def test_a_manifest_that_would_lose_files(bad: BadInput, text: str) -> None:
    """Each emptied its artifact without a word."""
    (bad.stage / "lib").mkdir()
    (bad.stage / "lib/data").touch()
    bad.manifest.write_text(text)
    assert bad.error() == (
        f"{bad.manifest}: names {sorted(text.split(chr(10))[:-1])[0]!r}, which is not there, and no directory that has "
        "'stage/lib/data', which is; expected the base directories, one a line, and nothing else. Mend it"
    )


@pytest.mark.parametrize("base", ["../x", "..", "stage/../../x", "/absolute", "/"])
def test_manifest_leads_outside(bad: BadInput, base: str) -> None:
    bad.manifest.write_text(base + "\n")
    assert bad.error() == (
        f"{bad.manifest}: {base!r} leads outside the artifact; expected a relative path without '..'"
    )


@pytest.mark.parametrize("base", [".", "./"])
def test_manifest_names_the_folder_itself(bad: BadInput, base: str) -> None:
    bad.manifest.write_text(base + "\n")
    assert bad.error() == f"{bad.manifest}: {base!r} is the artifact's folder itself; expected a directory in it"


@pytest.mark.parametrize("base", ["link", "link/below"])
def test_base_directory_is_a_link_that_leads_outside(bad: BadInput, base: str) -> None:
    (bad.root.parent / "outside/below").mkdir(parents=True)
    (bad.folder / "link").symlink_to("../../outside")
    bad.manifest.write_text(base + "\n")
    assert bad.error() == (
        f"{bad.manifest}: {base!r} is or goes through a link that leads outside the artifact; expected a directory in "
        f"{bad.folder}. Put the directory itself there"
    )


def test_manifest_that_is_no_text(bad: BadInput) -> None:
    bad.manifest.write_bytes(b"st\xffage\n")
    assert bad.error().startswith(f"{bad.manifest}: expected a text in UTF-8 (")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("lib/x", "../../x"),
        ("lib/x", "../.."),
        ("x", ".."),
        ("lib/x", "a/../../../b"),
        ("x", "/opt/rocm/lib/x"),
        ("x", "/"),
    ],
)
def test_link_that_leads_outside(bad: BadInput, path: str, target: str) -> None:
    (bad.stage / "lib").mkdir()
    (bad.stage / path).symlink_to(target)
    assert bad.error() == (
        f"{bad.stage}: the link {path} -> {target} leads outside the artifact tree; expected a relative link that "
        "stays inside. Make it relative, or leave it out of the artifact"
    )


CONTROLS = ["new\nline", "tab\t", "\x7f", "next\x85line", "line\u2028separator", "paragraph\u2029separator"]


@pytest.mark.parametrize("name", CONTROLS)
def test_control_characters_in_a_name(bad: BadInput, name: str) -> None:
    (bad.stage / name).touch()
    assert bad.error() == f"{bad.stage}: the name {name!r} contains a control character; rename it"


@pytest.mark.parametrize("name", CONTROLS)
def test_control_characters_in_a_link(bad: BadInput, name: str) -> None:
    (bad.stage / "link").symlink_to(name)
    assert bad.error() == f"{bad.stage}/link: the name {name!r} contains a control character; rename it"


def test_control_character_in_an_artifacts_name(bad: BadInput) -> None:
    (bad.root / "a\nb_lib_generic").mkdir()
    assert bad.error() == f"{bad.root}: the name 'a\\nb_lib_generic' contains a control character; rename it"


def test_names_that_are_not_utf_8(bad: BadInput) -> None:
    name = os.fsdecode(b"\xff.h")
    (bad.stage / name).touch()
    assert bad.error() == f"{bad.stage}: the name '\\udcff.h' is not UTF-8; rename it"
    (bad.stage / name).unlink()
    (bad.stage / "link").symlink_to(name)
    assert bad.error() == f"{bad.stage}/link: the name '\\udcff.h' is not UTF-8; rename it"


def test_fifo(bad: BadInput) -> None:
    os.mkfifo(bad.stage / "fifo")
    expected = f"{bad.stage}/fifo: neither a file, a directory nor a link; remove it from the artifact"
    assert bad.error() == expected


@pytest.mark.parametrize("mode", [0o4755, 0o2644, 0o6711])
def test_files_that_run_as_another_user(bad: BadInput, mode: int) -> None:
    (bad.stage / "tool").touch()
    (bad.stage / "tool").chmod(mode)
    assert bad.error() == (
        f"{bad.stage}/tool: set-user-ID or set-group-ID file (mode {mode:04o}), not allowed in packages; "
        "remove those bits: chmod u-s,g-s"
    )


def set_attribute(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"this user or file system cannot set {name}: {error.strerror}")


def test_files_with_capabilities(bad: BadInput) -> None:
    (bad.stage / "tool").touch(0o755)
    # As `setcap cap_net_raw+ep` writes it: struct vfs_cap_data, revision 2, of linux/capability.h.
    set_attribute(bad.stage / "tool", "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
    assert bad.error() == (
        f"{bad.stage}/tool: a file with capabilities, not allowed in packages; remove them: setcap -r {bad.stage}/tool"
    )


@pytest.mark.parametrize("mode", [0, 0o200, 0o111])
def test_a_file_that_nobody_may_read(bad: BadInput, mode: int) -> None:
    """Not even root: it may, but not where it is another user, as in a sandbox."""
    (bad.stage / "secret").touch()
    (bad.stage / "secret").chmod(mode)
    assert bad.error() == f"{bad.stage}/secret: cannot be read (mode {mode:04o}); make it readable: chmod a+r"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("therock_manifest.json", b"{", "expected a JSON object (Expecting"),
        ("therock_manifest.json", b"[]", "expected a JSON object ("),
        ("therock_manifest.json", b'{"flags": [1]}', "flags is [1]; expected a value like {}"),
        ("therock_manifest.json", b"\xff", "expected a text in UTF-8 ("),
        ("dist_info.json", b"nothing", "expected a JSON object (Expecting"),
        (
            "dist_info.json",
            b'{"dist_amdgpu_targets": ["gfx942"]}',
            "dist_amdgpu_targets is ['gfx942']; expected a value",
        ),
    ],
)
def test_facts_about_the_build_that_cannot_be_read(bad: BadInput, name: str, content: bytes, message: str) -> None:
    path = bad.stage / "share/therock" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert bad.error().startswith(f"{path}: {message}")


@pytest.mark.parametrize("name", ["a_lib.tar.zst", "a_lib_x_y.tar.xz", "a_libs_generic.tar.gz"])
def test_archive_that_is_no_artifact(bad: BadInput, name: str) -> None:
    (bad.root / name).touch()
    assert bad.error() == (
        f"{bad.root}/{name}: expected an archive named {{name}}_{{component}}_{{target}} with a component of lib, run, "
        "dev, dbg, doc, test; rename it, or move it out of the artifacts directory"
    )


def test_an_artifact_that_is_there_twice(bad: BadInput) -> None:
    (bad.root / "a_lib_generic.tar.zst").touch()
    expected = f"{bad.root}/a_lib_generic.tar.zst: a_lib_generic is the same artifact; remove one of them"
    assert bad.error() == expected


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["directory", "pipe"])
def test_what_only_has_the_name_of_an_archive(bad: BadInput, make: Callable[[Path], None]) -> None:
    archive = bad.root / "b_lib_generic.tar.xz"
    make(archive)
    assert bad.error() == f"{archive}: is no regular file; expected an archive, by its name. Rename it, or remove it"


@pytest.mark.parametrize("name", ["b_lib_generic", "b_lib_generic.tar.xz"])
def test_an_artifact_that_is_a_link_to_nothing(bad: BadInput, name: str) -> None:
    (bad.root / name).symlink_to("gone")
    assert bad.error() == (
        f"{bad.root}/{name}: is a link to gone, which is not there; put it there, or remove the link"
    )


def test_an_archive_that_bazel_did_not_see(bad: BadInput) -> None:
    archive = bad.root / "b_lib_generic.tar.zst"
    archive.touch()
    assert bad.error() == (
        f"{archive}: this archive was added since Bazel looked. Run `bazel shutdown` and build again"
    )
