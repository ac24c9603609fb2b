#!/usr/bin/env bash
# Makes a root file system with the remote engines that Debian packages: nginx, buildbox, PostgreSQL, Redis.
#   engine_root.sh ROOT
# The worker's actions see its /usr and /etc, too: python3 is there for the interpreter that is an input of theirs, pip and
# venv for the tests that install packages, a C++ compiler for HIP programs.
set -euo pipefail
root=$1
if ! command -v mmdebstrap || ! command -v bwrap; then
  apt-get -q update
  apt-get -qy --no-install-recommends install bubblewrap mmdebstrap
fi
# shellcheck disable=SC2016 # apt's placeholder, not the shell's
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
packages=(bubblewrap buildbox g++ nginx-light postgresql python3 python3-pip python3-venv redis-server)
mmdebstrap --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
  "--include=$(IFS=, && echo "${packages[*]}")" forky "$root" ${mirror:+"$mirror"}
for place in /*; do [ ! -d "$place" ] || mkdir -p "$root$place"; done
