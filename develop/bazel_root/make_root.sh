#!/bin/bash
# Makes the private Debian root that bazelw runs Bazel in:
#   make_root.sh ROOT
# ROOT appears whole or not at all, and is made again if files went missing from it. While it is made, these lie
# beside it: ROOT.partial, debs/ (downloads, which an interrupted run leaves to the next), apt.conf, lists/, lock and
# make_root.log; and tools/, with programs that the machine lacks. Any change of this file or of common.sh makes another root.
set -euo pipefail

suite=forky
# bazel-bootstrap brings the other rule sets, a JDK and a C compiler, but not libblake3, which its native library needs.
# git tells the commit, pip is for fetching, venv for tests, locales for the one locale that finish() makes.
packages=bazel-bootstrap,ca-certificates,git,libblake3-0,locales,python3-pip,python3-venv
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

root=$1
partial=$root.partial
apt=() # options of apt-get
cache=$(dirname "$root")
log=$cache/make_root.log
tools=$cache/tools

# shellcheck source=develop/bazel_root/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
use_tools "$tools"

# logged COMMAND...: runs COMMAND with its output in the log, and shows the end of that if it fails.
logged() {
  "$@" >>"$log" 2>&1 </dev/null || failed "$*"
}

failed() {
  tail -n 15 "$log" >&2
  die "failed: $* (the whole log: $log)"
}

# Fetches the programs of make_root and run.sh that the machine lacks, and unpacks them in $cache/tools with what they need
# beyond the machine's packages: nothing is installed.
fetch_tools() {
  local missing=() deb
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  command -v bwrap >/dev/null || missing+=(bubblewrap)
  [ -e "$keyring" ] || missing+=(debian-archive-keyring)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "fetching ${missing[*]}: unpacked in $tools, nothing is installed"
  update
  mkdir -p "$tools.partial/debs/partial"
  logged apt-get "${apt[@]}" -qy --no-install-recommends --download-only \
    -o Dir::Cache::archives="$tools.partial/debs" install "${missing[@]}"
  for deb in "$tools.partial"/debs/*.deb; do logged dpkg-deb --extract "$deb" "$tools.partial"; done
  rm -rf "$tools" "$tools.partial/debs"
  mv "$tools.partial" "$tools"
  use_tools "$tools"
  [ -e "$keyring" ] || keyring=$tools$keyring
}

# Lets apt read lists of its own here, where the machine's are not there or old.
update() {
  mkdir -p "$cache/lists/partial"
  apt=(-o Dir::State::lists="$cache/lists" -o Debug::NoLocking=true)
  apt-get "${apt[@]}" -q update >>"$log" 2>&1 </dev/null || true # one broken source of many need not matter
}

# The machine's own mirror of Debian, as apt understands its sources; nothing on Ubuntu or if apt has read none yet.
mirror() {
  # shellcheck disable=SC2016 # apt's placeholder, not the shell's
  apt-get "${apt[@]}" indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p
}

# What the machine's apt was told about reaching its mirror: proxies, certificates, credentials.
apt_settings() {
  echo 'Acquire::Retries "3";'
  apt-config dump --format '%F "%v";%n' Acquire |
    grep -E '^Acquire::(http|https|ftp|tor|Check-|Retries|ForceIPv)' || true
  echo 'Dir::Etc::netrc "/etc/apt/auth.conf";'
  echo 'Dir::Etc::netrcparts "/etc/apt/auth.conf.d";'
}

# Fills $partial. In a mount namespace of its own: whatever ends it, nothing stays mounted.
bootstrap() {
  local uri options
  uri=$(mirror)
  if [ -z "$uri" ]; then
    update
    uri=$(mirror)
  fi
  mkdir -p "$cache/debs"
  (umask 077 && apt_settings >"$cache/apt.conf")
  # shellcheck disable=SC2016 # the hook's shell expands them
  options=(
    --mode=root --variant=minbase --include="$packages" --keyring="$keyring" --aptopt="$cache/apt.conf"
    --setup-hook='mkdir -p "$1/var/cache/apt/archives" && mount --bind "$DEBS" "$1/var/cache/apt/archives"'
    "$suite" "$partial"
  )
  [ -z "$uri" ] || options+=("$uri") # else (Ubuntu) mmdebstrap's own default serves
  DEBS=$cache/debs unshare --mount mmdebstrap "${options[@]}" </dev/null 2>&1 |
    tee -a "$log" | sed -un -E 's/^I: (downloading|extracting|installing)/bazelw:   \1/p' >&2
}

# What running Bazel in the root needs and its packages do not hold.
finish() {
  local place bundle=/etc/ssl/certs/ca-certificates.crt files=$partial/usr/share/bazel/rules_rocm_python
  # Places to mount the machine's own files and folders on.
  for place in /*; do [ ! -d "$place" ] || mkdir -p "$partial$place"; done
  touch "$partial/etc/pip.conf" "$partial/etc/resolv.conf" "$partial/etc/hosts"
  mkdir -p "$partial/etc/bazel" "$files"
  # Bazel looks for its version in a file of this name, which Debian's lacks.
  echo "build.label=$(cat "$partial/usr/share/bazel/build-label.txt")" >"$files/build-data.properties"
  # Bazel takes file names for Latin-1, whatever they are, and looks for this locale to have Java do so, too. Without it,
  # it finds no file whose name goes beyond ASCII.
  chroot "$partial" localedef -i en_US -f ISO-8859-1 /usr/lib/locale/en_US.iso88591 >>"$log" 2>&1
  # Bazel, being Java, cannot read the certificates that the machine trusts in their usual form.
  [ -e "$bundle" ] || bundle=$partial$bundle
  chroot "$partial" openssl pkcs12 -export -nokeys -jdktrust anyExtendedKeyUsage -certpbe NONE -nomac -passout pass: \
    <"$bundle" >"$files/cacerts.p12" 2>>"$log"
  # No addresses, no credentials: nothing is installed from inside.
  rm -f "$partial/etc/apt/sources.list" "$partial/etc/apt/apt.conf.d/99mmdebstrap"
  echo "$(count_files "$partial") $(date +%s)" >"$partial/$stamp"
}

main() {
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock -n 9 || { say "waiting for another bazelw, which makes the Debian root" && flock 9; }
  ! root_is_whole "$root" || return 0 # made while this one waited

  # Under the lock every such folder is a dead attempt's.
  rm -rf --one-file-system "$cache"/*.partial
  trap 'rm -rf --one-file-system "$partial" "$cache/apt.conf"' EXIT
  if [ -e "$root" ]; then
    say "$root is damaged: making it again"
    mv "$root" "$root.damaged.partial"
    rm -rf --one-file-system "$root.damaged.partial"
  fi

  : >"$log"
  fetch_tools
  bwrap --bind / / true >>"$log" 2>&1 || failed "bwrap: this machine (a container?) does not let root make namespaces"
  say "making a Debian $suite root with Bazel in $root: 1.4 GB, one to three minutes"
  bootstrap || failed mmdebstrap
  finish
  mv "$partial" "$root"
  rm -rf "$cache/debs" "$cache/lists"
  say "the Debian root is made"
  local other
  for other in "$cache"/debian-*; do
    [ "$other" = "$root" ] || say "made for another version of this project, and yours to remove: $other"
  done
}

main
