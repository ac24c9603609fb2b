# shellcheck shell=bash
# Sourced by bazelw and tools/bazel: exports ROCM_ARTIFACTS_FINGERPRINT, of which a change makes the catalog look again.
# Bazel itself watches the contents of the artifacts' files, but neither modes nor the texts of links, and the listing of
# a directory only until that is removed: from then on it calls the file system inconsistent. Of archives, which are too
# big to be read each time, sizes and times tell.
#   export_fingerprint WORKSPACE ARGUMENTS_OF_BAZEL...

# artifacts_directory WORKSPACE ARGUMENTS...: ROCM_ARTIFACTS_DIR as Bazel will have it: of an option, an rc file, or the environment.
artifacts_directory() {
  local workspace=$1 argument line found=${ROCM_ARTIFACTS_DIR:-}
  shift
  while read -r line; do found=$line; done < <(
    sed -n 's/^[^#]*--repo_env[= ]ROCM_ARTIFACTS_DIR=\([^ ]*\).*/\1/p' "${HOME:-}/.bazelrc" "$workspace/user.bazelrc" 2>/dev/null
  )
  for argument; do
    case $argument in --repo_env=ROCM_ARTIFACTS_DIR=* | ROCM_ARTIFACTS_DIR=*) found=${argument#*ROCM_ARTIFACTS_DIR=} ;; esac
  done
  printf '%s' "$found"
}

export_fingerprint() {
  local directory
  directory=$(artifacts_directory "$@")
  [ -n "$directory" ] || return 0
  # The directory and the artifacts in it may be links, but nothing below is followed. What cannot be read is for the
  # catalog to say.
  ROCM_ARTIFACTS_FINGERPRINT=$(
    {
      find -H "$directory"/* -printf '%y %m %p %l\n' || true
      find -H "$directory"/*.tar.{gz,xz,zst} -maxdepth 0 -printf '%p %s %T@\n' || true
    } 2>/dev/null | LC_ALL=C sort | sha256sum
  )
  export ROCM_ARTIFACTS_FINGERPRINT
}
