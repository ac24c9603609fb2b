# shellcheck shell=bash
# Sourced by bazelw and tools/bazel: exports ROCM_COMMIT and ROCM_COMMIT_DATE (UTC), of which versions are made that are to
# be stamped. Bazel itself knows of a commit only in actions, but file names are made of versions before.
#   export_commit WORKSPACE
# Without git, or outside of a checkout, nothing is set: who asks for a stamp is then told what to set.

export_commit() {
  local commit
  [ -z "${ROCM_COMMIT:-}${ROCM_COMMIT_DATE:-}" ] || return 0
  commit=$(TZ=UTC0 git -C "$1" log -1 --format='%H %cd' --date=format-local:%Y%m%d 2>/dev/null) || return 0
  export ROCM_COMMIT=${commit% *} ROCM_COMMIT_DATE=${commit#* }
}
