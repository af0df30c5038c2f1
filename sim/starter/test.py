# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""Tests of NAME.

    python test.py          all: the core alone, and the program in the guest (minutes when it is built first)
    python test.py Core     the core alone
"""

import subprocess
import sys
import unittest

from pathlib import Path

from migen import passive, run_simulation

HERE = Path(__file__).resolve().parent


class Core(unittest.TestCase):
    def test_words(self):
        from core import Core
        core, got = Core(), []

        def give():
            yield core.offset.storage.eq(5)
            for word in (1, 2, 0xffffffff):
                yield core.sink.data.eq(word)
                yield core.sink.valid.eq(1)
                yield
            yield core.sink.valid.eq(0)
            yield

        @passive
        def take():
            yield core.source.ready.eq(1)
            while True:
                yield
                if (yield core.source.valid):
                    got.append((yield core.source.data))

        run_simulation(core, [take(), give()])
        self.assertEqual(got, [6, 7, 4])


class Guest(unittest.TestCase):
    def test_program(self):
        result = subprocess.run([sys.executable, HERE / "sim.py"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("10000 words: right", result.stdout)


if __name__ == "__main__":
    unittest.main()
