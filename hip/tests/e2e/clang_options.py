"""Options of clang about HIP: compares the SDK's own clang with hip/tests/clang_options.bzl.

A part of hip.tests.e2e.programs.

The analysis tests show that each option there acts or is refused. So a new option of clang fails here first.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE, Workspace

TABLE = Path("hip/tests/clang_options.bzl")
#: An option as clang lists it (`--help-hidden`), without its value.
OPTION = re.compile(r"^  (-[^\s=<,]+)", re.MULTILINE)
ABOUT_HIP = re.compile(
    r"hip|gpu|cuda|cuid|offload|rocm|mcumode|mno-cumode|tgsplit|wavefrontsize|ptxas|sycl-link", re.IGNORECASE
)


def options_about_hip(text: str) -> set[str]:
    """Return the options about HIP in what clang lists."""
    return {option for option in OPTION.findall(text) if ABOUT_HIP.search(option)}


def check_clang_options(workspace: Workspace, given: Sequence[str]) -> None:
    """Compare the table with the options of the SDK's clang."""
    result = workspace.run("run", "--ui_event_filters=-info", *given, "@rocm//:clang++", "--", "--help-hidden")
    assert result.returncode == 0, result.stdout
    options = options_about_hip(result.stdout)
    assert len(options) > 80, sorted(options)
    known = set(re.findall(r'"(-[^"]+)"', (WORKSPACE / TABLE).read_text(encoding="utf-8")))
    assert options <= known, (
        f"{sorted(options - known)}: add them to {TABLE}, and to hip/private/options.bzl if refused"
    )
    print(f"clang: {len(options)} options about HIP, each of which acts or is refused", flush=True)
