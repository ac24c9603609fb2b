# Shared by bazelw's scripts: messages, and how a whole Debian root is told from a damaged one.
# shellcheck shell=bash

stamp=.whole # in the root, written last: "FILES ID"

say() { printf 'bazelw: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# count_files ROOT: how many files its packages put there. Nothing adds or takes away any later.
count_files() { find "$1/usr" "$1/etc" ! -type d | wc -l; }

# root_is_whole ROOT: whether ROOT has its stamp and at least the files that it had then.
root_is_whole() {
  local files
  read -r files _ 2>/dev/null <"$1/$stamp" && [ "$(count_files "$1" 2>/dev/null)" -ge "$files" ]
}
