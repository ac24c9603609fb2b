# shellcheck shell=bash
# Sourced by bazelw and tools/bazel: exports ROCM_ARTIFACTS_FINGERPRINT, of which a change makes the catalog look again.
# Bazel itself watches the contents of the artifacts' files, but neither modes nor the texts of links, and the listing
# of a directory only until that is removed: from then on it calls the file system inconsistent. Of archives, which are
# too big to be read each time, sizes and times tell: of the content, and of the status (ctime), which nobody can set.
#   export_fingerprint ARGUMENTS_OF_BAZEL...
#
# Which directory a build uses is for Bazel to say: it depends on the order of rc files and on --config. So each
# directory that could be meant gets a line, `SHA-256 DIRECTORY`, sorted by directory. The repository rule takes that of
# its own directory, and watches one without a line itself.

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

# split LINE: puts into `words` what Bazel makes of a line of an rc file. Quotes group, a backslash takes the next
# character as it is, also between quotes, and an unquoted # begins a comment.
split() {
  local line=$1 word='' quote='' character at
  words=()
  for ((at = 0; at < ${#line}; at++)); do
    character=${line:at:1}
    case $quote$character in
      \\ | [\"\']\\) at=$((at + 1)) word+=${line:at:1} ;;
      \"\" | \'\') quote='' ;;
      [\"\']?) word+=$character ;;
      [\"\']) quote=$character ;;
      '#') break ;;
      [[:space:]]) [ -z "$word" ] || words+=("$word") word='' ;;
      *) word+=$character ;;
    esac
  done
  [ -z "$word" ] || words+=("$word")
}

# mentioned WORD...: prints the directories that words of an rc file or a command line name, one a line. Only absolute
# paths can be artifacts directories; one with a line break in its name gets no line.
mentioned() {
  local word
  for word; do
    case $word in
      *$'\n'*) ;;
      *ROCM_ARTIFACTS_DIR=/* | *ROCM_WINDOWS_ARTIFACTS_DIR=/*) printf '%s\n' "${word#*_ARTIFACTS_DIR=}" ;;
    esac
  done
}

# in_rc_file WORKSPACE FILE: prints the directories that an rc file names, and those that it imports, for any --config.
in_rc_file() {
  local workspace=$1 file=$2 line words imported
  case $read_files in *$'\n'"$file"$'\n'*) return ;; esac # An import loop, or an rc file that is named twice.
  read_files+=$file$'\n'
  [[ -f $file && -r $file ]] || return 0
  while read -r line || [ -n "$line" ]; do
    split "$line"
    case ${words[0]-} in
      '') ;;
      import | try-import*)
        imported=${words[${#words[@]} - 1]}
        case $imported in %workspace%*) imported=$workspace${imported#%workspace%} ;; esac
        in_rc_file "$workspace" "$imported"
        ;;
      *) mentioned "${words[@]}" ;;
    esac
  done < <(
    # A backslash at the end of a line continues it.
    sed -n -e :join -e '/\\\r\{0,1\}$/{N;s/\\\r\{0,1\}\n//;b join' -e '}' -e '/import\|_ARTIFACTS_DIR=/p' "$file"
  )
}

# artifacts_directories ARGUMENTS_OF_BAZEL...: prints each directory that ROCM_ARTIFACTS_DIR or ROCM_WINDOWS_ARTIFACTS_DIR
# may be, by the environment, an option, or an rc file: those that Bazel reads, and those that --bazelrc names. Some may be
# there twice.
artifacts_directories() {
  local workspace argument last='' file read_files=$'\n'
  workspace=$(bazel_workspace)
  mentioned "ROCM_ARTIFACTS_DIR=${ROCM_ARTIFACTS_DIR:-}" "ROCM_WINDOWS_ARTIFACTS_DIR=${ROCM_WINDOWS_ARTIFACTS_DIR:-}" "$@"
  for file in /etc/bazel.bazelrc "${HOME:-}/.bazelrc" "$workspace/.bazelrc"; do in_rc_file "$workspace" "$file"; done
  for argument; do
    case $last in --bazelrc) in_rc_file "$workspace" "$argument" ;; esac
    case $argument in --bazelrc=*) in_rc_file "$workspace" "${argument#--bazelrc=}" ;; esac
    last=$argument
  done
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
