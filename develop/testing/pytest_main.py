"""Runs pytest on the test files given, as the program of every `pytest_test`."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from lib.common.wheel_scripts import put_on_path


class Shard:
    """Leaves to each shard its share of the tests, as Bazel's test encyclopedia has it ("Test sharding")."""

    def __init__(self) -> None:
        """Know of no tests yet."""
        self.is_left_out = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep every n-th of the tests selected; neighbours, which tend to take as long, go to different shards."""
        if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
            Path(status_file).touch()
        share = items[int(os.environ.get("TEST_SHARD_INDEX", "0")) :: int(os.environ.get("TEST_TOTAL_SHARDS", "1"))]
        self.is_left_out = bool(items) and not share
        items[:] = share

    def exit_code(self, code: int) -> int:
        """Return pytest's exit code; no test is no failure where other shards have them all."""
        return 0 if self.is_left_out and code == pytest.ExitCode.NO_TESTS_COLLECTED else code


def main(argv: list[str]) -> int:
    """Run the tests; JUnit results go where Bazel wants them, a `--test_filter` becomes `-k`."""
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-ra"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--junit-xml={report}")
    if selection := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        options.append(f"-k={selection}")
    if temporary := os.environ.get("TEST_TMPDIR"):
        options.append(f"--basetemp={temporary}/pytest")
    if importlib.util.find_spec("hypothesis"):  # its own profile: the same examples each time, no notice of the time
        options.append("--hypothesis-profile=ci")
    put_on_path()
    shard = Shard()
    return shard.exit_code(int(pytest.main(options + argv, plugins=[shard])))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
