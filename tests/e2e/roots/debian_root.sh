#!/usr/bin/env bash
# Makes a root of a Debian suite, in which Debian's ROCm finds the libc that it was built for:
#   debian_root.sh trixie|sid ROOT
# trixie (Debian 13) runs ROCm 5.7, and has the tools of all checks; sid (unstable) runs ROCm 7.
set -euo pipefail
suite=$1 root=$2
if ! command -v mmdebstrap || ! command -v bwrap; then
  apt-get -q update
  apt-get -qy --no-install-recommends install bubblewrap mmdebstrap
fi
# shellcheck disable=SC2016 # apt's placeholder, not the shell's
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
packages=(
  ca-certificates python3-pip python3-venv
  g++                                                    # a C++ library for the compiler in the artifacts
  perl libfile-which-perl liburi-encode-perl liburi-perl # what hipcc and roc-obj are written in, and ask for
  python3-pyelftools
)
case $suite in
  trixie)
    packages+=(
      clang-tools-17                                                                            # HIP's bundler, which ROCm 5.7's artifacts lack
      clang-{,tools-}{18,19,22}                                                                 # each compresses device code in another version's way
      binutils-gold elfutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross lld llvm mold patchelf # what looks at edited ELF files
      python3-hypothesis python3-pytest
      cmake make python3-dev python3-setuptools                        # what the example framework is built with
      wine wine64                                                      # runs what is made for Windows
      chromium fonts-dejavu-core fonts-liberation nginx-light          # what the index is looked at with, and served by
    )
    ;;
  sid)
    packages+=(
      cmake make                 # what builds against the devel tree
      python3-dev                # headers for an extension module
      crane docker-registry      # what makes images of layers, and where
    )
    ;;
  *)
    echo "debian_root.sh: $suite: expected trixie or sid" >&2
    exit 2
    ;;
esac
mmdebstrap --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
  "--include=$(IFS=, && echo "${packages[*]}")" "$suite" "$root" ${mirror:+"$mirror"}
for place in /*; do [ ! -d "$place" ] || mkdir -p "$root$place"; done
