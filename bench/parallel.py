#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Runs jobs in parallel threads, and ends their processes if one fails or the program is interrupted."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from litepcie_soc.build import processes

# Seconds of one wait. Python handles a signal only after a wait, so no wait is endless.
WAIT_S = 1


def side_by_side(work, items, at_once, done, waiting=lambda items: None):
    """Returns the results of ``work(item)`` by item; calls ``done(result)`` after each.

    Every second at least, it calls ``waiting(items)`` with the items that are being worked on.
    When one raises, or the program is interrupted, everything that runs is ended.
    """
    results = {}
    with ThreadPoolExecutor(at_once) as pool:
        try:
            jobs = {pool.submit(work, item): item for item in items}
            left = set(jobs)
            while left:
                ended, left = wait(left, WAIT_S, FIRST_COMPLETED)
                for job in ended:
                    results[jobs[job]] = job.result()
                    done(job.result())
                waiting([jobs[job] for job in left if job.running()])
        except BaseException:  # An interrupt comes only once: litepcie_soc.build.command_line sees to that.
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end_all()
            raise
    return results
