#!/usr/bin/env bash
# Runs a command in a root file system, with the machine's own top-level folders where they are, and without a network:
#   in_root.sh [--network] ROOT COMMAND...
set -euo pipefail
network=(--unshare-net)
if [ "$1" = --network ]; then
  network=()
  shift
fi
root=$1
shift
mounts=(--bind "$root" / --dev-bind /dev /dev --dev-bind /proc /proc --ro-bind /sys /sys)
for place in /*; do
  case $place in
    /usr | /bin | /sbin | /lib | /lib32 | /lib64 | /libx32 | /libo32 | /etc | /var | /proc | /dev | /sys) ;;
    *) [ ! -d "$place" ] || mounts+=(--bind "$place" "$place") ;;
  esac
done
exec bwrap "${mounts[@]}" ${network[@]+"${network[@]}"} --die-with-parent --chdir / --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin --unsetenv LD_LIBRARY_PATH "$@"
