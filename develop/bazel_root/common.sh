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

# use_tools TOOLS: puts the programs that make_root.sh unpacked there behind those of the machine, with their libraries.
use_tools() {
  local tools=$1 folder
  [ -d "$tools" ] || return 0
  PATH=$PATH:$tools/usr/bin
  for folder in "$tools"/lib/*-linux-gnu "$tools"/usr/lib/*-linux-gnu; do
    [ ! -d "$folder" ] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
  for folder in "$tools"/usr/share/perl/* "$tools"/usr/lib/*-linux-gnu/perl/*; do
    [ ! -d "$folder" ] || export PERL5LIB=${PERL5LIB:+$PERL5LIB:}$folder
  done
}
