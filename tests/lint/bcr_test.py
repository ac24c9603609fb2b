"""The files of .bcr name targets that exist, and have the form that the Bazel Central Registry asks for.

The registry's docs/README.md, docs/attestations.md, metadata.schema.json and tools/bcr_validation.py have the rules.
That program needs a finished entry, and asks GitHub.
"""

import json
import re
from collections.abc import Iterator

from tests.lint.workspace import WORKSPACE

FOLDER = WORKSPACE / ".bcr"
#: How the presubmit calls these rules in a module of its own.
RULES = "@rules_rocm_python"


def labels(text: str) -> Iterator[tuple[str, str]]:
    """Yield the targets of presubmit.yml: the folder of the module, and the label there."""
    folder = ""
    for line in text.splitlines():
        if re.match(r"\S", line):
            folder = ""
        if found := re.match(r'  module_path: "(.*)"', line):
            folder = found[1]
        if found := re.match(r'\s+- "(@\w+)?(//.*)"', line):
            yield "" if found[1] == RULES else folder, found[2]


def test_targets_of_the_presubmit_are_there() -> None:
    found = list(labels((FOLDER / "presubmit.yml").read_text(encoding="utf-8")))
    assert {"tests/e2e/consumer/acme", ""} == {folder for folder, _ in found}
    for folder, label in found:
        package, _, name = label.removeprefix("//").partition(":")
        if package == "...":
            continue
        directory = WORKSPACE / folder / package
        name = name or package.rpartition("/")[2]
        files = [*directory.glob("BUILD.bazel"), *directory.glob("*.bzl")]
        text = "".join(file.read_text(encoding="utf-8") for file in files)
        assert re.search(rf'[":]{re.escape(name)}"', text), f"{label}: expected a target {name} in {directory}"


def test_every_task_has_a_platform_and_each_bazel() -> None:
    text = (FOLDER / "presubmit.yml").read_text(encoding="utf-8")
    assert text.count("bazel: ${{ bazel }}") == text.count("platform: ${{ platform }}") == text.count("name: ")
    assert text.count('bazel: ["7.x", "8.x", "9.x"]') == 2


def test_metadata() -> None:
    found = json.loads((FOLDER / "metadata.template.json").read_text(encoding="utf-8"))
    assert {"homepage", "versions", "maintainers", "repository"} <= found.keys()
    assert found.keys() <= {"homepage", "versions", "maintainers", "repository", "yanked_versions", "deprecated"}
    assert found["repository"] == ["github:OWNER/rules_rocm_python"]
    for maintainer in found["maintainers"]:
        assert (
            {"name", "github", "github_user_id"} <= maintainer.keys() <= {"name", "email", "github", "github_user_id"}
        )


def test_the_source_is_an_archive_of_a_release() -> None:
    """GitHub makes the archives of tags anew, so theirs have no stable digest. Attestations lie beside it."""
    found = json.loads((FOLDER / "source.template.json").read_text(encoding="utf-8"))
    assert found.keys() == {"integrity", "strip_prefix", "url", "docs_url"}
    for key in ("url", "docs_url"):
        assert found[key].startswith("https://github.com/{OWNER}/{REPO}/releases/download/{TAG}/"), found[key]
    workflow = (WORKSPACE / ".github/workflows/release.yaml").read_text(encoding="utf-8")
    for builder in (
        "bazel-contrib/.github/.github/workflows/release_ruleset",
        "bazel-contrib/publish-to-bcr/.github/workflows/publish",
    ):
        assert re.search(rf"uses: {re.escape(builder)}\.yaml@v[\d.]+ ", workflow), (
            f"the registry knows no other builder than {builder}"
        )
