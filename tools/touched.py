#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which tests of `make test-all` a change touches: what `.ci/run` runs besides `make test`.

    python -m tools.touched            prints files and folders of test/ for the changes since the base
    python -m tools.touched --passed   remembers the commit as one that passed

The base is the commit CI_BASE; else the newest ancestor that passed on this machine; else the commit's parent.
"""

import os
import subprocess
import sys

from litepcie_sim.guest import cache
from tools.tracked      import ROOT

ENDPOINT = ("test/gateware/endpoint", "test/sim/test_lane.py", "test/guest/test_lane.py",
    "test/software/user/test_misbehaviours.py", "test/targets/test_ecp5.py")
ON_LINK  = ("test/formal", "test/gateware/soc", "test/sim", "test/guest/test_transfers.py", "test/guest/test_faults.py")

# The first row counts that a path begins with one of. A test, a helper and a conftest.py touch their own folder.
TABLE = (
    (("gateware/endpoint/", "sim/src/lane/", "sim/src/root/scan", "sim/src/machine/lane_",
        "sim/src/programs/litepcie_host/lane_"), ENDPOINT),
    (("sim/pcievhost/",),             ("test/sim/pcievhost",)),
    (("gateware/ddr/",),              ("test/gateware/ddr", "test/sim/test_transfers.py", "test/guest/test_ddr.py")),
    (("gateware/phy/",),              ("test/gateware/phy/ultrascale", *ON_LINK)),
    (("gateware/tlp/",),              ("test/gateware/tlp", "test/gateware/dma", *ON_LINK)),
    (("gateware/dma/",),              ("test/gateware/dma", "test/gateware/stream_dma", *ON_LINK)),
    (("gateware/stream_dma/",),       ("test/gateware/stream_dma", "test/formal", "test/guest/test_streams.py")),
    (("gateware/axi/", "gateware/standalone/"), ("test/gateware/axi", "test/gateware/standalone")),
    (("gateware/common/",),           ("test/gateware", "test/formal")),
    (("gateware/",),                  ("test/gateware/soc", "test/gateware/build", "test/targets")),
    (("targets/",),                   ("test/targets",)),
    (("sim/guest/",),                 ("test/sim/guest", "test/guest/test_kernels.py",
                                       "test/guest/test_transcripts.py")),
    (("sim/",),                       ("test/sim",)),
    (("software/kernel/",),           ("test/guest", "test/software/kernel")),
    (("software/user/", "tools/mock_card.py", "tools/mock_card.c", "tools/mock_stream.c"),
                                      ("test/software/user", "test/tools")),
    (("software/python/",),           ("test/guest/test_python.py",)),
    (("docs/", "mkdocs.yml", "examples/README.md"), ("test/docs", "test/guest/test_transcripts.py",
                                       "test/tools/test_docs_site.py")),
    (("examples/",),                  ("test/examples",)),
    (("bench/",),                     ("test/bench",)),
    (("tools/", "setup.py"),          ("test/tools",)),
    (("requirements.txt",),           ("test",)),
)


def tests_of(path):
    """Files and folders of test/ whose tests marked `full` a change of `path` touches."""
    if path.startswith("test/"):
        found = path if "/test_" in path and path.endswith(".py") else path.rpartition("/")[0]
        return (found,) if found != "test" and (ROOT / found).exists() else ()
    return next((tests for starts, tests in TABLE if path.startswith(starts)), ())


def touched(paths):
    """The files and folders of test/ for changes of `paths`, without those that are inside others."""
    found = sorted({test for path in paths for test in tests_of(path)})
    return [test for test in found if not any(test.startswith(f"{other}/") for other in found)]

# Commits ------------------------------------------------------------------------------------------


def git(*arguments, root=ROOT):
    result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    return result.stdout.split("\n")[:-1] if result.returncode == 0 else []


def passed():
    """The file with the commits that passed on this machine, the last 100 of them, and these commits."""
    path = cache.folder() / "ci-passed"
    return path, path.read_text().split() if path.is_file() else []


def remember(commit):
    path, commits = passed()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*commits, commit][-100:]) + "\n")


def base(root=ROOT):
    """The commit that the change is compared with; None if there is no such commit here."""
    if os.environ.get("CI_BASE"):
        return os.environ["CI_BASE"]
    known     = set(passed()[1])
    ancestors = git("rev-list", "--max-count=1000", "HEAD", root=root)
    return next((commit for commit in ancestors if commit in known), next(iter(ancestors[1:]), None))


def changed(root=ROOT):
    """The paths that differ from the base, as they were and as they are; without a base, every path."""
    commit = base(root)
    if commit and git("cat-file", "-t", commit, root=root):
        return git("diff", "--name-only", "--no-renames", commit, "HEAD", root=root)
    return git("ls-files", root=root)


if __name__ == "__main__":
    if sys.argv[1:] == ["--passed"]:
        remember(*git("rev-parse", "HEAD"))
    else:
        print(" ".join(touched(changed())))
