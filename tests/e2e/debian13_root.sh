#!/usr/bin/env bash
# Makes a Debian 13 root, in which Debian's ROCm finds the libc that it was built for:
#   debian13_root.sh ROOT
set -euo pipefail
root=$1
if ! command -v mmdebstrap || ! command -v bwrap; then
  apt-get -q update
  apt-get -qy --no-install-recommends install bubblewrap mmdebstrap
fi
# shellcheck disable=SC2016 # apt's placeholder, not the shell's
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
packages=(
  ca-certificates python3-pip python3-venv
  clang-tools-17 g++                                               # HIP's bundler, which the artifacts lack; a C++ library
  clang-{,tools-}{18,19,22}                                        # each compresses device code in another version's way
  perl libfile-which-perl liburi-encode-perl                       # what hipcc and roc-obj are written in, and ask for
  binutils-gold elfutils gcc-aarch64-linux-gnu libc6-dev-arm64-cross lld llvm mold patchelf # what looks at edited ELF files
  python3-hypothesis python3-pyelftools python3-pytest
  cmake make python3-dev python3-setuptools                        # what the example framework is built with
  chromium fonts-dejavu-core fonts-liberation nginx-light          # what the index is looked at with, and served by
)
mmdebstrap --variant=minbase "--include=$(IFS=, && echo "${packages[*]}")" trixie "$root" ${mirror:+"$mirror"}
for place in /*; do [ ! -d "$place" ] || mkdir -p "$root$place"; done
