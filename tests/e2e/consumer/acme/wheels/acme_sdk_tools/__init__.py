"""The libraries and programs of the Acme SDK, in the tree `_acme_sdk_tools` beside this package."""

from pathlib import Path

#: The tree, laid out as the SDK's install prefix.
ROOT = Path(__file__).resolve().parents[1] / "_acme_sdk_tools"
