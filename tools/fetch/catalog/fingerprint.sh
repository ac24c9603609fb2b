# shellcheck shell=bash
# Sourced by bazelw and tools/bazel: exports ROCM_ARTIFACTS_FINGERPRINT, of which a change makes the catalog look again.
# Bazel itself watches the contents of the artifacts' files, but neither modes nor the texts of links, and the listing
# of a directory only until that is removed: from then on it calls the file system inconsistent. Of archives, which are
# too big to be read each time, sizes and times tell: of the content, and of the status (ctime), which nobody can set.
#   export_fingerprint ARGUMENTS_OF_BAZEL...
#
# Which directory a build uses is for Bazel to say: it depends on the order of rc files and on --config. So each absolute
# path that could be meant gets a line, `SHA-256 DIRECTORY`, sorted by directory. The repository rule takes that of its
# own directory, and watches one without a line itself: so rc files need not be read as Bazel reads them, and a path in
# quotes gets no line.

# bazel_workspace: prints the workspace that Bazel will find, from the working directory upward; nothing without one.
bazel_workspace() {
  local folder file
  folder=$(pwd -P)
  while :; do
    for file in MODULE.bazel REPO.bazel WORKSPACE WORKSPACE.bazel; do
      [ ! -f "$folder/$file" ] || { printf '%s' "$folder" && return; }
    done
    [ -n "$folder" ] || return 0
    folder=${folder%/*}
  done
}

# rc_lines WORKSPACE FILE: prints the lines of an rc file, and of those that it imports, each file once.
rc_lines() {
  local line
  case $read_files in *$'\n'"$2"$'\n'*) return ;; esac
  read_files+=$2$'\n'
  [[ -f $2 && -r $2 ]] || return 0
  while read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    [[ ! $line =~ ^(try-)?import[^/%]*([/%][^\"]*) ]] || rc_lines "$1" "${BASH_REMATCH[2]/#%workspace%/$1}"
  done <"$2"
}

# artifacts_directories ARGUMENTS_OF_BAZEL...: prints each directory that ROCM_ARTIFACTS_DIR or ROCM_WINDOWS_ARTIFACTS_DIR
# may be, by the environment, an option, or an rc file: those that Bazel reads, and those that --bazelrc names. Some may be
# there twice.
artifacts_directories() {
  local workspace argument last='' file read_files=$'\n'
  workspace=$(bazel_workspace)
  for argument in "ROCM_ARTIFACTS_DIR=${ROCM_ARTIFACTS_DIR:-}" "ROCM_ARTIFACTS_DIR=${ROCM_WINDOWS_ARTIFACTS_DIR:-}" "$@"; do
    case $argument in *$'\n'*) ;; *ROCM_*ARTIFACTS_DIR=/*) printf '%s\n' "${argument#*_ARTIFACTS_DIR=}" ;; esac
  done
  {
    for file in /etc/bazel.bazelrc "${HOME:-}/.bazelrc" "$workspace/.bazelrc"; do rc_lines "$workspace" "$file"; done
    for argument; do
      case $last in --bazelrc) rc_lines "$workspace" "$argument" ;; esac
      case $argument in --bazelrc=*) rc_lines "$workspace" "${argument#--bazelrc=}" ;; esac
      last=$argument
    done
  } | grep -oE "ROCM_(WINDOWS_)?ARTIFACTS_DIR=/[^[:space:]\"'\\\\]*" | cut -d= -f2- || true
}

# fingerprint DIRECTORY: prints the SHA-256, in hex, of all in it that Bazel does not watch.
fingerprint() {
  # The directory and the artifacts in it may be links, but nothing below is followed. What cannot be read is for the
  # catalog to say.
  {
    find -H "$1"/* -printf '%y %m %p %l\n' || true
    find -H "$1"/*.tar.{gz,xz,zst} -maxdepth 0 -printf '%p %s %T@ %C@\n' || true
  } 2>/dev/null | LC_ALL=C sort | sha256sum | cut -d' ' -f1
}

export_fingerprint() {
  local directory lines
  lines=$(
    artifacts_directories "$@" | LC_ALL=C sort -u | while IFS= read -r directory; do
      printf '%s %s\n' "$(fingerprint "$directory")" "$directory"
    done
  )
  [ -z "$lines" ] || export ROCM_ARTIFACTS_FINGERPRINT=$lines
}
