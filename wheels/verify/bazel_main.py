"""Runs rocm-wheels verify as the program of a Bazel test (`sdk_wheel_test`): writes JUnit XML to XML_OUTPUT_FILE."""

import os
import sys

from wheels.verify.tool import main

if __name__ == "__main__":
    report = os.environ.get("XML_OUTPUT_FILE")
    sys.exit(main([*sys.argv[1:], "--all", *([f"--junit={report}"] if report else [])]))
