#!/bin/sh
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

# The first program of the guest: sets the board up, then obeys the second serial port (see console.py).
# /etc/guest.conf, written by the runner: token= (for the word "ready"), load= (1: the board and its module).

export PATH=/bin:/sbin:/usr/bin HOME=/root TERM=vt100
control=/dev/ttyS1

# Orphans become children of process 1. When a child dies, the shell's `read` starts again and loses the part of the
# line that it had. So process 1 only waits, and the commands are the only children of the shell that reads them.
# (That shell is not a background job: such a job would ignore Ctrl-C.)
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

# Sets up the board below the root port and loads the module. Prints what failed and returns its status.
board() {
    [ -e /sys/bus/pci/devices/0000:01:00.0 ] || { echo "no board on the guest's PCI bus"; return 1; }
    pcie_sizes "$mps" "$mrrs" || return
    insmod /lib/modules/litepcie.ko && return
    dmesg | tail -n 5
    return 1
}

raw
exec 3<>$control
status=0
if [ "$load" = 1 ]; then
    board >&3 2>&1
    status=$?
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
        # The shell gets a terminal of its own: job control, line editing, Ctrl-C. The end of its session hangs up the
        # port. So its output must be sent before (stty waits for that), and the port must be opened again.
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
