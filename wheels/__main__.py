"""Runs the command: `python -m rocm_wheels`."""

import sys

from wheels.command import main

sys.exit(main())
