#!/bin/bash
# Runs Bazel in the private Debian root, which it has made if need be:
#   run.sh WORKSPACE ARGUMENTS_OF_BAZEL...
# bwrap shows the root as /, with the machine's own folders (home, tmp, opt, ...) in their places in it.
set -euo pipefail

workspace=$1
shift
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=develop/bazel_root/common.sh
. "$here/common.sh"

HOME=${HOME:-~}
export HOME
xdg_cache=${XDG_CACHE_HOME:-$HOME/.cache}
cache=$xdg_cache/rules_rocm_python
digest=$(cat "$here/make_root.sh" "$here/common.sh" | sha256sum)
root=$cache/debian-${digest:0:12}

make_root() {
  { command -v apt-get && command -v dpkg-deb; } >/dev/null ||
    die "found no Bazel 7.4 or newer: install one, or bazelisk, or name one in \$BAZEL"
  "$here/make_root.sh" "$root"
}

# The arguments of bwrap that mount things.
mounts=(--ro-bind /sys /sys --ro-bind "$here" /etc/bazel)

# add --bind|--ro-bind PATH...: those PATHs that are there, in the same places.
add() {
  local how=$1 path
  shift
  for path in "$@"; do [ ! -e "$path" ] || mounts+=("$how" "$path" "$path"); done
}

add_mounts() {
  local path
  # All folders, now: the Bazel server keeps for its life the mounts that it is started with.
  for path in /*; do
    case $path in
      /usr | /bin | /sbin | /lib | /lib32 | /lib64 | /libx32 | /libo32 | /etc | /proc | /dev | /sys) ;;
      *) [ ! -d "$path" ] || add --bind "$path" ;;
    esac
  done
  for path in "$HOME" "$xdg_cache" "$workspace"; do
    case $path in /usr/local/?* | /usr/src/?*) add --bind "$path" ;; esac
  done
  # How the machine reaches the network, and who is who on it.
  add --ro-bind /etc/resolv.conf /etc/hosts /etc/passwd /etc/group /etc/pip.conf
  # Where apt finds packages, and whom it trusts: Debian's ROCm is fetched with it.
  add --ro-bind /etc/apt /usr/share/keyrings
  [ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
    add --ro-bind /etc/ssl /usr/share/ca-certificates /usr/local/share/ca-certificates
}

root_is_whole "$root" || make_root
add_mounts
id=$(printf '%s\n' "${mounts[@]}" | cat - "$root/$stamp" | cksum)

# These name programs and libraries of the machine outside.
unset CC CXX JAVA_HOME LD_LIBRARY_PATH LD_PRELOAD PERL5LIB PYTHONHOME PYTHONPATH
find_bwrap "$root"
exec "${bwrap[@]}" "${mounts[@]}" --remount-ro / --chdir "$(pwd -P)" --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin \
  --setenv BAZEL /etc/bazel/bazel --setenv BAZELW_MOUNTS "${id%% *}" --setenv BAZELW_AOT_CACHE "$cache/java-${digest:0:12}.aot" \
  /etc/bazel/bazel "$@"
