"""The checks of `rocm-sdk test` under AMD's names: `python -m unittest rocm_sdk.tests.core_test`.

AMD's packages ship a module of tests for each package. Here each of these names is a function that unittest calls.
"""

from __future__ import annotations

import re
import unittest

from .selfcheck import Check, FailureError, SkipError
from .selfcheck.run import list_checks


def base_test() -> unittest.TestSuite:
    """Return the checks of the installation as a whole."""
    return _suite("packages|target|ownership|preload|record:rocm")


def core_test() -> unittest.TestSuite:
    """Return the checks of core, and of all console scripts."""
    return _suite("record:rocm-sdk-core|library:_rocm_sdk_core.*|script:.*")


def libraries_test() -> unittest.TestSuite:
    """Return the checks of the libraries and their device code."""
    return _suite("record:rocm-sdk-(libraries|device).*|library:_rocm_sdk_libraries.*")


def profiler_test() -> unittest.TestSuite:
    """Return the checks of the profilers."""
    return _suite("record:rocm-profiler|library:_rocm_profiler.*")


def devel_test() -> unittest.TestSuite:
    """Return the checks of the development tree, which is made if need be."""
    return _suite("devel|record:rocm-sdk-devel")


def load_tests(*_: object) -> unittest.TestSuite:
    """Return all checks: what unittest asks a module for."""
    return _suite(".*")


def _suite(names: str) -> unittest.TestSuite:
    checks = [check for check in list_checks() if re.fullmatch(names, check.name)]
    return unittest.TestSuite(map(_case, checks))


def _case(check: Check) -> unittest.TestCase:
    def run() -> None:
        try:
            check.run()
        except SkipError as reason:
            raise unittest.SkipTest(str(reason)) from None
        except FailureError as fault:
            raise AssertionError(str(fault)) from None

    return unittest.FunctionTestCase(run, description=check.name)
