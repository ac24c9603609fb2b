#!/bin/bash
# Makes the private Debian root that bazelw runs Bazel in, as any user:
#   make_root.sh ROOT
# apt fetches packages, dpkg-deb unpacks them, and a few programs of the root do what installing would: nothing of the machine
# changes. ROOT appears whole or not at all, and is made again if files went missing from it. While it is made, these lie
# beside it: ROOT.partial, apt/ with debs/ (downloads, which an interrupted run leaves to the next), lock and make_root.log.
# Any change of this file or of common.sh makes another root.
set -euo pipefail

suite=forky
# bazel-bootstrap brings the other rule sets, a JDK and a C compiler, but not libblake3, which its native library needs.
# git tells the commit, pip is for fetching, venv for tests, locales for the one locale that finish() makes, apt for ROCm.
packages=(
  '?essential' '?priority(required)' apt bazel-bootstrap bubblewrap ca-certificates git libblake3-0 locales python3-pip
  python3-venv
)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

root=$1
partial=$root.partial
cache=$(dirname "$root")
log=$cache/make_root.log
apt=$cache/apt

# shellcheck source=develop/bazel_root/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# logged COMMAND...: runs COMMAND with its output in the log, and shows the end of that if it fails.
logged() {
  "$@" >>"$log" 2>&1 </dev/null || failed "$*"
}

failed() {
  tail -n 15 "$log" >&2
  die "failed: $* (the whole log: $log)"
}

# The machine's own mirror of Debian, as apt understands its sources; nothing on Ubuntu or if apt has read none yet.
mirror() {
  # shellcheck disable=SC2016 # apt's placeholder, not the shell's
  apt-get "$@" indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p
}

# What the machine's apt was told about reaching its mirror: proxies, certificates. Credentials are in files that it reads itself.
apt_settings() {
  apt-config dump --format '%F "%v";%n' Acquire |
    grep -E '^Acquire::(http|https|ftp|tor|Check-|Retries|ForceIPv)' || true
  cat <<EOF
Acquire::Languages "none";
Acquire::Retries "3";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Debug::NoLocking "true";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/debs";
Dir::Etc::main "$apt/none";
Dir::Etc::parts "$apt/empty";
Dir::Etc::preferences "$apt/none";
Dir::Etc::preferencesparts "$apt/empty";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/empty";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
EOF
}

# Downloads the packages and what they need to $apt/debs, with a state of apt that knows no other package.
fetch() {
  local uri own=(-o "Dir::State::lists=$apt/machine" -o Debug::NoLocking=true)
  mkdir -p "$apt"/{debs,lists,machine}/partial "$apt/empty"
  uri=$(mirror)
  if [ -z "$uri" ]; then
    apt-get "${own[@]}" -q update >>"$log" 2>&1 </dev/null || true # one broken source of many need not matter
    uri=$(mirror "${own[@]}")
  fi
  uri=${uri:-${DEBIAN_MIRROR:-}}
  [ -n "$uri" ] || die "apt has no mirror of Debian (on Ubuntu?): name one, DEBIAN_MIRROR=URL, or install Bazel 7.4 or newer"
  if [ ! -e "$keyring" ]; then # Ubuntu
    (cd "$apt" && logged apt-get "${own[@]}" download debian-archive-keyring)
    logged dpkg-deb --extract "$apt"/debian-archive-keyring_*.deb "$apt"
    keyring=$apt$keyring
  fi
  (umask 077 && apt_settings >"$apt/apt.conf")
  : >"$apt/status"
  echo "deb [signed-by=$keyring] $uri $suite main" >"$apt/sources.list"
  export APT_CONFIG=$apt/apt.conf
  logged apt-get -q update
  logged apt-get -qy --download-only install "${packages[@]}"
  unset APT_CONFIG
}

# unpack DEB...: fills $partial, which takes the links of /bin, /lib and /sbin from base-files.
unpack() {
  mkdir -p "$partial"
  logged dpkg-deb --extract "$apt"/debs/base-files_*.deb "$partial"
  # shellcheck disable=SC2016 # the inner shell's arguments
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" sh -c 'dpkg-deb --extract "$1" "$0"' "$partial" >>"$log" 2>&1 ||
    failed dpkg-deb
}

# inside COMMAND...: runs a program of $partial there, with the standard input of the caller.
inside() {
  "${bwrap[@]}" --setenv PATH /usr/sbin:/usr/bin "$@" 2>>"$log" || failed "$*"
}

# What running Bazel in the root needs: what installing its packages would do, and what they lack.
finish() {
  local place java bundle=/etc/ssl/certs/ca-certificates.crt files=$partial/usr/share/bazel/rules_rocm_python
  # Places to mount the machine's own files and folders on: other users cannot make them.
  for place in /*; do [ ! -d "$place" ] || mkdir -p "$partial$place"; done
  touch "$partial"/etc/{group,hosts,passwd,pip.conf,resolv.conf}
  mkdir -p "$partial"/{etc/bazel,usr/local/share/ca-certificates,usr/share/keyrings} "$files"
  # Debian's alternatives; the names of services; certificates; a database of packages, which apt reads.
  for java in "$partial"/usr/lib/jvm/java-*/bin/java{,c}; do ln -sf "${java#"$partial"}" "$partial/usr/bin"; done
  for place in awk=mawk c++=g++ cc=gcc which=which.debianutils; do ln -s "${place#*=}" "$partial/usr/bin/${place%=*}"; done
  cp "$partial/usr/share/libc-bin/nsswitch.conf" "$partial/etc"
  cat "$partial"/usr/share/ca-certificates/mozilla/*.crt >"$partial$bundle"
  touch "$partial/var/lib/dpkg/status"
  inside ldconfig
  inside python3 -m compileall -q /usr/lib/python3 "/usr/lib/$(basename "$partial"/usr/lib/python3.*)"
  inside java -Xshare:dump >>"$log"
  # Bazel looks for its version in a file of this name, which Debian's lacks. In a folder, Java would use no AOT cache.
  echo "build.label=$(cat "$partial/usr/share/bazel/build-label.txt")" >"$files/build-data.properties"
  inside python3 -m zipfile --create "${files#"$partial"}/version.jar" "${files#"$partial"}/build-data.properties"
  # Bazel takes file names for Latin-1, whatever they are, and looks for this locale to have Java do so, too. Without it,
  # it finds no file whose name goes beyond ASCII.
  inside localedef -i en_US -f ISO-8859-1 /usr/lib/locale/en_US.iso88591
  # Bazel, being Java, cannot read the certificates that the machine trusts in their usual form.
  [ -e "$bundle" ] || bundle=$partial$bundle
  inside openssl pkcs12 -export -nokeys -jdktrust anyExtendedKeyUsage -certpbe NONE -nomac -passout pass: \
    <"$bundle" >"$files/cacerts.p12"
  echo "$(count_files "$partial") $(date +%s)" >"$partial/$stamp"
}

main() {
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock -n 9 || { say "waiting for another bazelw, which makes the Debian root" && flock 9; }
  ! root_is_whole "$root" || return 0 # made while this one waited

  # Under the lock every such folder is a dead attempt's.
  rm -rf --one-file-system "$cache"/*.partial
  trap 'rm -rf --one-file-system "$partial" "$apt/apt.conf"' EXIT
  if [ -e "$root" ]; then
    say "$root is damaged: making it again"
    mv "$root" "$root.damaged.partial"
    rm -rf --one-file-system "$root.damaged.partial"
  fi

  : >"$log"
  unshare --mount true 2>>"$log" || unshare --user --map-root-user --mount true 2>>"$log" ||
    failed "unshare: this machine (a container?) lets $(id -un) make no namespaces. Run it as root, or install Bazel 7.4 or newer"
  say "making a Debian $suite root with Bazel in $root: 1.4 GB, one to three minutes"
  say "  downloading packages"
  fetch
  say "  unpacking packages"
  unpack "$apt"/debs/*.deb
  find_bwrap "$partial"
  finish
  mv "$partial" "$root"
  rm -rf "$apt"
  say "the Debian root is made"
  local other
  for other in "$cache"/debian-*; do
    [ "$other" = "$root" ] || say "made for another version of this project, and yours to remove: $other"
  done
}

main
