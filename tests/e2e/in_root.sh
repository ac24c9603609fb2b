#!/usr/bin/env bash
# Runs a command in a root file system, with the machine's own top-level folders where they are:
#   in_root.sh ROOT COMMAND...
set -euo pipefail
root=$1
shift
mounts=(--bind "$root" / --dev-bind /dev /dev --dev-bind /proc /proc --ro-bind /sys /sys)
for place in /*; do
  case $place in
    /usr | /bin | /sbin | /lib | /lib32 | /lib64 | /libx32 | /libo32 | /etc | /var | /proc | /dev | /sys) ;;
    *) [ ! -d "$place" ] || mounts+=(--bind "$place" "$place") ;;
  esac
done
exec bwrap "${mounts[@]}" --unshare-net --chdir / --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin --unsetenv LD_LIBRARY_PATH "$@"
