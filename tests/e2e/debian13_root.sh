#!/usr/bin/env bash
# Makes a Debian 13 root, in which Debian's ROCm finds the libc that it was built for:
#   debian13_root.sh ROOT
set -euo pipefail
root=$1
command -v mmdebstrap >/dev/null || apt-get -qy --no-install-recommends install mmdebstrap
command -v bwrap >/dev/null || apt-get -qy --no-install-recommends install bubblewrap
# shellcheck disable=SC2016 # apt's placeholder, not the shell's
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
# g++ for its C++ library; clang-tools has the bundler that clang runs for HIP, which the artifacts lack.
mmdebstrap --variant=minbase --include=ca-certificates,clang-tools-17,g++,python3-pip,python3-venv trixie "$root" ${mirror:+"$mirror"}
for place in /*; do [ ! -d "$place" ] || mkdir -p "$root$place"; done
