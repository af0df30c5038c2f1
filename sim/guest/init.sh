#!/bin/sh
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

# The first program of the guest. It sets up the board, then runs commands from the second serial port (machine.py).
# The runner writes /etc/guest.conf: control= (that port), mps=, mrrs=, load= (1: set up the board and load modules=),
# share= (modules of a shared folder), and token=, which this program replies with when it is ready.

export PATH=/bin:/sbin:/usr/bin HOME=/root TERM=vt100

# Orphans become children of process 1. When a child ends, the shell's `read` starts again and loses the part of the
# line that it had. So process 1 only waits, and a second process reads commands and has no other children. It is not
# a background job, as that would ignore Ctrl-C.
if [ $$ = 1 ]; then
    mount -t devtmpfs dev /dev
    "$0"
    poweroff -f
fi

mkdir -p /proc /sys /tmp /root /dev/shm /dev/pts
mount -t proc     proc    /proc
mount -t sysfs    sys     /sys
mount -t tmpfs    tmp     /tmp
mount -t tmpfs    shm     /dev/shm
mount -t devpts   pts     /dev/pts
mount -t debugfs  debug   /sys/kernel/debug 2>/dev/null
. /etc/guest.conf
cd /root

raw() { stty -F $control raw -echo -hupcl clocal; }

# Sets up the board and loads the module. Prints a message and fails if something is wrong.
board() {
    [ -e /sys/bus/pci/devices/0000:01:00.0 ] || { echo "no board on the guest's PCI bus"; return 1; }
    pcie_sizes "$mps" "$mrrs" || return
    for module in $modules; do
        insmod "$module" && continue
        dmesg | tail -n 5
        return 1
    done
}

# Mounts the machine's folder.
shared() {
    for one in $share; do
        insmod /lib/modules/$one || return
    done
    mkdir /share && mount -t virtiofs share /share
}

raw
exec 3<>$control
status=0
if [ "$share" ]; then
    shared >&3 2>&1 || status=1
fi
if [ "$load" = 1 ]; then
    board >&3 2>&1 || status=1
fi
printf '%s %d\n' "$token" $status >&3

while read -r token mode code <&3; do
    command=$(echo "$code" | base64 -d)
    case $mode in
    run)
        sh -c "$command" </dev/null >&3 2>&1 3>&-
        status=$?
        ;;
    shell)
        # The shell gets a session with the port as its terminal, for job control, line editing and Ctrl-C. The end of
        # the session hangs up the port: stty waits until all output is sent, and the port must be opened again.
        stty -F $control sane
        eval "$command"
        setsid -c sh -c 'sh -il; status=$?; stty sane; exit $status' <>$control >&0 2>&1
        status=$?
        exec 3<>$control
        raw
        ;;
    off)
        poweroff -f
        ;;
    esac
    printf '%s %d\n' "$token" $status >&3
done
poweroff -f
