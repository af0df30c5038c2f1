#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Fetches and builds all parts of a guest at the same time."""

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from litepcie_sim.guest         import initramfs, qemu
from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel
from litepcie_sim.guest.module  import SOURCES, module


def prepare(kernels=(DEFAULT_KERNEL,), with_fio=False, with_module=True):
    """Fills the cache with all parts that guests of `kernels` need. Raises GuestError."""
    jobs = [qemu.find, initramfs.base]
    if with_fio:
        jobs.append(initramfs.fio)
    if with_module:
        jobs.append(initramfs.tools)
    for kernel in map(Kernel, kernels):
        jobs.append(kernel.image)
        if with_module:
            jobs.append(kernel.compiler)
    with ThreadPoolExecutor(len(jobs)) as pool:
        waiting = [pool.submit(job) for job in jobs]
        while waiting:
            # With a time limit: Python would handle a signal that comes just before an endless wait only after it.
            done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # Asked for, so that the first error is raised.
    if with_module:
        for kernel in map(Kernel, kernels):
            module(kernel, SOURCES)
