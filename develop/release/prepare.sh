#!/bin/bash
# Prepares a release for bazel-contrib's workflow: archives in release/, and its notes on standard output.
set -euo pipefail

version=${1#v}
./bazelw build //docs/api:all >&2
python3 -B -m develop.release.release --output release --documentation bazel-bin/docs/api >&2
cat <<EOF
In \`MODULE.bazel\`:

\`\`\`starlark
bazel_dep(name = "rules_rocm_python", version = "$version")
\`\`\`
EOF
