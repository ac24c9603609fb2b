"""The project `acme`: copied beside the rules, its artifacts in a directory, and what its wheels hold."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from tests.e2e.testing.builds import copy_workspace

#: Where the project lies in the workspace.
CONSUMER = "tests/e2e/consumer/acme"
#: The same artifacts as //sdk has, in a directory: where each file comes from, and the texts of links.
FILES = {
    "math_dev_generic": {"include/sdk/math.h": "sdk/math.h", "math/lib64/libacme_math.so": "libacme_math.so.1"},
    "math_lib_generic": {
        "math/lib64/libacme_math.so.1": "libacme_math.so.1.4.0",
        "math/lib64/libacme_math.so.1.4.0": "bazel-bin/sdk/libacme_math.so.1.4.0",
    },
    "runtime_dev_generic": {"include/sdk/base.h": "sdk/base.h", "runtime/lib64/libacme_base.so": "libacme_base.so.2"},
    "runtime_lib_generic": {
        "runtime/lib64/libacme_base.so.2": "libacme_base.so.2.0.1",
        "runtime/lib64/libacme_base.so.2.0.1": "bazel-bin/sdk/libacme_base.so.2.0.1",
        "share/licenses/acme/LICENSE": "./LICENSE",
    },
    "tools_run_generic": {"math/bin/acme-calc": "bazel-bin/sdk/acme-calc", "math/bin/acme-sum": "acme-calc"},
}


#: A package of a filegroup and of a directory that a rule writes.
TREES = {
    "tree.bzl": '''
def _tree_impl(ctx):
    tree = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.run_shell(
        inputs = ctx.files.program,
        outputs = [tree],
        command = """
        mkdir "$2/bin" "$2/share"
        cp "$1" "$2/bin/"
        echo '#!/bin/sh' > "$2/bin/script"
        echo > "$2/share/a = b.txt"
        """,
        arguments = [ctx.file.program.path, tree.path],
    )
    return DefaultInfo(files = depset([tree]))

tree = rule(_tree_impl, attrs = {"program": attr.label(allow_single_file = True)})
''',
    "BUILD.bazel": """
load("@rules_rocm_python//rules:sdk.bzl", "sdk_artifact", "sdk_package", "sdk_wheel")
load(":tree.bzl", "tree")

filegroup(name = "prebuilt", srcs = glob(["tree/**"]))
tree(name = "tree", program = "//sdk:acme-calc")
sdk_artifact(
    name = "artifact",
    artifact_name = "trees",
    component = "run",
    files = [":prebuilt", ":tree"],
    prefix = "opt",
    strip_prefix = "trees/tree",
)
sdk_package(name = "package", package = "trees", artifacts = [":artifact"], rpath = [], tree = "_acme_trees")
sdk_wheel(
    name = "wheel",
    description = "README.md",
    distribution = "acme-trees",
    import_name = "acme_trees",
    license_expression = "ISC",
    package = ":package",
    platform_tag = "//:platform_tag",
    summary = "Trees",
    version = "//:version",
)
""",
    "README.md": "Trees\n",
    "tree/share/prebuilt.txt": "Prebuilt\n",
}


def lay_out_trees(project: Path) -> None:
    """Write the package of TREES to the project."""
    for path, text in TREES.items():
        (project / "trees" / path).parent.mkdir(parents=True, exist_ok=True)
        (project / "trees" / path).write_text(text)


def copy_project(directory: Path) -> Path:
    """Copy the workspace to `rules` below a directory, and the project out of it to `acme`, which is returned."""
    rules, project = directory / "rules", directory / "acme"
    copy_workspace(rules)
    (rules / CONSUMER).rename(project)
    module = project / "MODULE.bazel"
    module.write_text(module.read_text().replace('"../../../.."', '"../rules"'))
    (project / "bazelw").write_text('#!/bin/sh\nexec ../rules/bazelw "$@"\n')
    (project / "bazelw").chmod(0o755)
    return project


def contents(wheel: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of all that a wheel holds."""
    with ZipFile(io.BytesIO(wheel)) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())


def lay_out(directory: Path, project: Path) -> Path:
    """Lay out what was built as artifacts in a directory, which is returned."""
    for artifact, files in FILES.items():
        for path, source in files.items():
            target = directory / artifact / "stage" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if "/" in source:
                shutil.copyfile(project / source, target)
                target.chmod(0o755 if source.startswith("bazel-bin/") else 0o644)
            else:
                target.symlink_to(source)
        (directory / artifact / "artifact_manifest.txt").write_text("stage\n")
    return directory
