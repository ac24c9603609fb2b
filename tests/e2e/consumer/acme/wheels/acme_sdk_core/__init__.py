"""The runtime of the Acme SDK: libraries, in the tree `_acme_sdk_core` beside this package."""
