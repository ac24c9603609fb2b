"""Real builds whose actions see nothing but what they declare, and planted ones that Bazel's sandbox stops.

    python3 -m tests.hermetic.prove [--artifacts DIR]

Run it from the top of the workspace. A copy of the workspace is built as it is, and again in Bazel's strictest sandbox,
where an action sees its inputs and the libraries of the system: the same bytes must come out, of every action, zig's
among them. What the actions ask of where they run is compared with what they ought to. The faults of `planted.py` are
built both ways.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.hermetic.declarations import MNEMONICS, problems, read_actions
from tests.hermetic.planted import TMP
from tests.remote.checkouts import Checkout, check_out
from tests.remote.spawns import count_by

MINI = tuple(f"//tests/mini/{layout}:dist" for layout in ("family", "split", "thin"))
TARGETS = (
    "//packaging:dist",
    "//packaging:images",
    *MINI,
    "//tests/mini/requiring_wheel:requiring",
    "//tests/mini/split_wheel:whole",
    "//tests/mini/windows:acme_libraries",
    "//examples/framework:rocm_init",
)
#: What is left of the machine: the libraries of the system, the interpreter's own, and processes.
SYSTEM = ("/lib", "/lib64", "/proc", "/usr/lib", "/usr/lib64")
#: What Bazel says of each planted fault, with the project's .bazelrc and in its strictest sandbox; "" if it lets it be.
PLANTED = {
    "nothing": ("", ""),
    "connect": ("Network is unreachable", "Network is unreachable"),
    "connect_blocked": ("Network is unreachable", "Network is unreachable"),
    "read_machine": ("", "No such file or directory: '/etc/passwd'"),
    "read_undeclared": ("No such file or directory: 'tests/hermetic/undeclared.txt'",) * 2,
    "run_shell": ("", "No such file or directory: 'sh'"),
    "write_beside": ("", ""),
    "write_home": ("Read-only file system", "Could not determine home directory"),
    "write_root": ("Read-only file system", ""),
    "write_tmp": ("", ""),
    "write_input": ("Read-only file system", "was modified during execution"),
}
#: Options with which a planted fault is built.
OPTIONS = {"connect_blocked": ("--sandbox_default_allow_network=true",)}


def strictest() -> tuple[str, ...]:
    """Return the options of a build in whose sandboxes the machine is not to be seen, for every action."""
    return (
        "--experimental_use_hermetic_linux_sandbox",
        "--spawn_strategy=linux-sandbox",
        "--modify_execution_info=Rocm(Image|Index)=-no-sandbox",
        *(f"--sandbox_add_mount_pair={path}" for path in SYSTEM if Path(path).is_dir()),
    )


def hide_tmp(checkout: Checkout) -> None:
    """Take /tmp, where artifacts may lie, out of the sandboxes: a list on the command line cannot be made shorter."""
    bazelrc = checkout.workspace.directory / ".bazelrc"
    lines = bazelrc.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line != "build --sandbox_add_mount_pair=/tmp"]
    assert len(kept) == len(lines) - 1, "expected the line that shows /tmp to actions, once"
    bazelrc.write_text("\n".join(kept) + "\n", encoding="utf-8")


def build_all(checkout: Checkout, *options: str) -> dict[str, str]:
    """Build everything anew; return the SHA-256 of each output of each action."""
    checkout.clean()
    outcome = checkout.build(*options, targets=TARGETS).succeeded()
    print(f"{len(outcome.spawns)} actions in {outcome.build.seconds:.0f} s: {count_by(outcome.spawns)}", flush=True)
    jailed = {"linux-sandbox"} if options else {"linux-sandbox", "worker"}
    outside = {spawn.mnemonic for spawn in outcome.spawns if spawn.runner not in jailed}
    assert outside == (set() if options else {"RocmImage", "RocmIndex"}), f"ran outside the sandbox: {sorted(outside)}"
    return {path: sha for spawn in outcome.spawns for path, (sha, _) in spawn.outputs.items()}


def check_planted(checkout: Checkout, column: int, *options: str) -> None:
    """Build every planted fault; assert that it is stopped, or let be, as expected.

    What is allowed is lost: files beside the outputs, and in the strictest sandbox those in the root and in /tmp, which
    are its own.
    """
    for fault, row in PLANTED.items():
        expected, target = row[column], f"//tests/hermetic:planted_{fault}"
        build = checkout.build(*options, *OPTIONS.get(fault, ()), targets=(target,)).build
        assert build.succeeded == (not expected), f"{target}: expected {expected or 'success'}\n{build.output}"
        assert expected in build.output, f"{target}: expected {expected}\n{build.output}"
        print(f"{target}: {expected or 'let be'}", flush=True)
        # The only thing that is allowed and not lost, for the sake of artifacts below /tmp: docs/built/hermeticity.md.
        assert Path(TMP).exists() == (fault == "write_tmp" and not options), f"{target}: {TMP}"
        Path(TMP).unlink(missing_ok=True)
    folder = checkout.output_base / "execroot/_main/bazel-out/k8-fastbuild/bin/tests/hermetic"
    assert (folder / "planted_write_beside.txt").exists()
    assert not (folder / "planted_write_beside.txt.stray").exists(), "what is written beside the outputs is lost"


def check_declarations(checkout: Checkout) -> None:
    """Compare what the actions ask for with what they ought to."""
    query = f"mnemonic('Rocm.*', deps(set({' '.join(TARGETS)})))"
    workspace = checkout.workspace
    artifacts = [f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}"] if workspace.artifacts else []
    command = ["./bazelw", *workspace.startup, "aquery", "--output=jsonproto", *artifacts, query]
    printed = subprocess.run(command, cwd=workspace.directory, capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    actions = read_actions(printed.stdout)
    assert problems(actions) == [], "\n".join(problems(actions))
    texts = [file.read_text(encoding="utf-8") for file in sorted((WORKSPACE / "rules").rglob("*.bzl"))]
    # Actions of HIP programs are for others: hip.tests.e2e.programs.
    written = {name for text in texts for name in re.findall(r'mnemonic = "(Rocm\w+)"', text)}
    assert written == {action.mnemonic for action in actions} == MNEMONICS - {"PyTool"}, sorted(written)
    print(f"{len(actions)} actions of {len(written)} kinds declare that they need no network")


def run(artifacts: Path | None, scratch: Path) -> None:
    """Run all checks."""
    checkout = check_out(scratch, artifacts)
    try:
        first = build_all(checkout)
        check_declarations(checkout)
        check_planted(checkout, 0)
        hide_tmp(checkout)
        again = build_all(checkout, *strictest())
        different = sorted(path for path in first.keys() | again.keys() if first.get(path) != again.get(path))
        assert not different, f"other bytes: {different[:10]}"
        print(f"{len(first)} outputs, the same bytes")
        check_planted(checkout, 1, *strictest())
    finally:
        checkout.remove()


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, help="artifacts directory; without it, the embedded SDK")
    args = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache.mkdir(parents=True, exist_ok=True)
    # Not below /tmp, where .bazelrc lets actions write: so an input there could be changed, as `write_input` tries.
    with tempfile.TemporaryDirectory(prefix="rocm-hermetic-", dir=cache) as folder:
        run(args.artifacts, Path(folder))
    print("no action sees what it does not declare")
    return 0


if __name__ == "__main__":
    sys.exit(main())
