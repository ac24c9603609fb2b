"""Runs pytest on the test files given, as the program of every `pytest_test`."""

import os
import sys

import pytest

from tools.testing.wheel_scripts import put_on_path


def main(argv: list[str]) -> int:
    """Run the tests; JUnit results go where Bazel wants them, a `--test_filter` becomes `-k`."""
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-ra"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--junit-xml={report}")
    if selection := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        options.append(f"-k={selection}")
    if temporary := os.environ.get("TEST_TMPDIR"):
        options.append(f"--basetemp={temporary}/pytest")
    put_on_path()
    return int(pytest.main(options + argv))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
