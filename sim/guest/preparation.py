#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Fetches and builds everything that a guest needs, in parallel."""

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from litepcie_sim.guest         import initramfs, qemu
from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from litepcie_sim.guest.kernels import DEFAULT_KERNEL
from litepcie_sim.guest.module  import SOURCES, module


def prepare(kernels=(DEFAULT_KERNEL,), with_fio=False, with_lspci=False, with_module=True, others=()):
    """Fills the cache with everything that guests with `kernels` need, and calls `others` beside. Raises GuestError."""
    jobs = [qemu.find, initramfs.base, *others]
    if with_fio:
        jobs.append(initramfs.fio)
    if with_lspci:
        jobs.append(initramfs.lspci)
    if with_module:
        jobs.append(initramfs.tools)
    for kernel in map(named_kernel, kernels):
        jobs.append(kernel.image)
        if with_module:
            jobs.append(kernel.compiler)
    with ThreadPoolExecutor(len(jobs)) as pool:
        waiting = [pool.submit(job) for job in jobs]
        while waiting:
            # With a timeout, because Python handles a signal only after the wait in which it arrives.
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # Raises the error of a job that failed.
    if with_module:
        for kernel in map(named_kernel, kernels):
            module(kernel, SOURCES)
