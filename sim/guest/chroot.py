#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs programs inside an unpacked root file system, in a way that the user's rights on this machine allow."""

from litepcie_soc.build import processes

# $1 is the root. The mounts belong to the mount namespace and vanish with it.
_MOUNT = """
root=$1; shift
for folder in dev proc; do
    mkdir -p "$root/$folder" && mount --rbind "/$folder" "$root/$folder" || exit 1
done
exec chroot "$root" "$@"
"""

# In a container, root may call chroot but not mount. A build needs only these files of /dev and /proc.
_PLAIN = """
root=$1; shift
mkdir -p "$root/dev" "$root/proc/self" && cat /proc/self/maps > "$root/proc/self/maps" || exit 1
[ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3 || exit 1
exec chroot "$root" "$@"
"""

_WAYS = [
    ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, "sh"],
    ["unshare", "--mount", "sh", "-c", _MOUNT, "sh"],
    ["sh", "-c", _PLAIN, "sh"],
]


def way(root):
    """Returns the words to put before a command to run it inside `root`, or None if this machine does not allow it."""
    for words in _WAYS:
        if processes.run([*words, root, "/bin/true"])[0] == 0:
            return [*words, str(root)]
    return None
