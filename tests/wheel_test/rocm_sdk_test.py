"""The packages find no fault with themselves, and are for the target that was asked for."""

import os
import subprocess

output = subprocess.run(["rocm-sdk", "test"], stdout=subprocess.PIPE, text=True, check=True).stdout
assert ", 0 failed, 0 skipped" in output.splitlines()[-1], output
targets = subprocess.run(["rocm-sdk", "targets"], stdout=subprocess.PIPE, text=True, check=True).stdout
assert os.environ["ROCM_SDK_TARGET_FAMILY"] in targets, targets
