# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""`python -m litepcie_bench.stress`: its command line and what it knows; test/sim/test_stress.py has the loads."""

from pathlib import Path

import pytest

from litepcie_bench import stress


@pytest.mark.parametrize("args", [["--seeds", "0"], ["--first", "-1"]])
def test_usage(args, capsys):
    with pytest.raises(SystemExit) as ended:
        stress.main(args)
    assert ended.value.code == 2 and capsys.readouterr().err.startswith("stress: error: ")

# A read of 3840 bytes without its last 318, one that is answered, one that ends with an error, one of the host.
TRACE = """\
100 1.0 < MRd32 length 960 requester 0100 tag 46 address 0x10007000 be f/3
110 1.1 < MRd32 length 16 requester 0100 tag 47 address 0x20a020 be f/f
120 1.2 > CplD length 880 completer 0000 status 0 byte count 3838 requester 0100 tag 46 lower address 0x00
130 1.3 > CplD length 8 completer 0000 status 0 byte count 64 requester 0100 tag 47 lower address 0x20
140 1.4 > CplD length 8 completer 0000 status 0 byte count 32 requester 0100 tag 47 lower address 0x00
150 1.5 < MRd32 length 4 requester 0100 tag 48 address 0x20a040 be f/f
160 1.6 > CplD length 64 completer 0000 status 0 byte count 318 requester 0101 tag 46 lower address 0x00
170 1.7 > Cpl length 0 completer 0000 status 1 byte count 16 requester 0100 tag 48 lower address 0x40
180 1.8 > MRd32 length 1 requester 0000 tag 46 address 0xe0000000 be f/0
"""
TIMED_OUT = {"event": "nothing", "phase": "clean run", "message": "reader0 stopped: TIMEOUT\n  link up"}


@pytest.mark.parametrize("cycle, kept", [(5000, 5), (4000, 0)])
def test_room_of_reads_that_are_not_answered_or_late(cycle, kept):
    """320 bytes from a multiple of 64 are missing: 5 blocks. The largest read touches 60. A read keeps its room until
    its completions come, but one that is answered in time keeps none."""
    assert stress.kept_and_largest(TRACE.splitlines()) == (5, 60)
    late = f"{cycle} 5.0 > CplD length 80 completer 0000 status 0 byte count 318 requester 0100 tag 46 lower address 0"
    assert stress.kept_and_largest([*TRACE.splitlines(), late]) == (kept, 60)


@pytest.mark.parametrize("change, room, known", [
    ({}, 64, True), ({}, 65, False), ({"phase": "load"}, 64, False), ({"event": "link-down"}, 64, False),
    ({"message": "reader0 stopped: BAD_LENGTH"}, 64, False)])
def test_timeouts_that_kept_room_explains(change, room, known):
    assert bool(stress.explains(TIMED_OUT | change, TRACE.splitlines(), room)) == known


@pytest.mark.parametrize("name, room", [("sim_gen2_x4_128", None), ("sim_gen2_x4_128_space72x13600", 72),
    ("sim_gen2_x8_128_space72x4096", 64), ("sim_gen3_x8_256_split_little_space128x4096_fabric256", None)])
def test_room_of_a_board(name, room):
    assert stress.room_of(Path(name, "simulator", "litepcie_host")) == room
