# Shared by bazelw's scripts: messages, how a whole Debian root is told from a damaged one, and how one is entered.
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

# find_bwrap ROOT: sets `bwrap` to the command that shows ROOT as /: its own bubblewrap, with its own C library.
find_bwrap() {
  local loader
  # shellcheck disable=SC2034 # for callers
  for loader in "$1"/usr/lib/*-linux-gnu/ld-linux*.so.?; do
    bwrap=("$loader" --library-path "${loader%/*}" "$1/usr/bin/bwrap" --bind "$1" / --dev-bind /dev /dev --dev-bind /proc /proc)
  done
}
