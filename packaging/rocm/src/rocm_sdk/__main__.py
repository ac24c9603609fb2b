"""`python -m rocm_sdk` is `rocm-sdk`."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main())
