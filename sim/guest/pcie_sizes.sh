#!/bin/sh
#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

# pcie_sizes MPS MRRS: writes both sizes, in bytes, to the board's Device Control register (PCIe 4.0 7.5.3.4).
# Linux would leave MPS at 128, as QEMU's root port supports no more. Real root ports do.

device=${3:-/sys/bus/pci/devices/0000:01:00.0}
fail() { echo "pcie_sizes: $*" >&2; exit 1; }

code() {
    case $1 in
    128) echo 0 ;; 256) echo 1 ;; 512) echo 2 ;; 1024) echo 3 ;; 2048) echo 4 ;; 4096) echo 5 ;;
    *) fail "'$1' is not a size; choose 128, 256, 512, 1024, 2048 or 4096" ;;
    esac
}
mps=$(code "$1")  || exit
mrrs=$(code "$2") || exit

# All 256 bytes as positional parameters; byte N is parameter N + 1.
set -- $(od -An -v -tu1 -N 256 "$device/config")
[ $# -eq 256 ] || fail "cannot read $device/config"
eval "at=\${$((0x34 + 1))}"
while [ "$at" -ge 64 ]; do
    eval "id=\${$((at + 1))} next=\${$((at + 2))}"
    [ "$id" -eq 16 ] && break
    at=$((next & 0xfc))
done
[ "$at" -ge 64 ] || fail "the board has no PCI Express capability"

eval "supported=\$((\${$((at + 5))} & 7)) low=\${$((at + 9))} high=\${$((at + 10))}"
[ "$mps" -le "$supported" ] ||
    fail "MPS $((128 << mps)) is not supported by the board; the most is $((128 << supported)) bytes"
low=$(((low & 0x1f) | (mps << 5)))
high=$(((high & 0x8f) | (mrrs << 4)))
printf "$(printf '\\%03o\\%03o' $low $high)" |
    dd of="$device/config" bs=2 seek=$(((at + 8) / 2)) conv=notrunc 2>/dev/null || fail "cannot write $device/config"
