"""No artifacts: `ROCM_ARTIFACTS_DIR` names them."""

ARTIFACTS = []
DIST_TARGETS = []
SPLIT = False
