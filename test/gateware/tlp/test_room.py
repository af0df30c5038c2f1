#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""When the room of a completion in the PHY's buffer may be used again."""

import pytest

from migen.sim import passive

from test.gateware.simulation import full
from test.gateware.tlp.bench import Bench, Reader
from test.gateware.tlp.host import Host

# Tests --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("data_width", [64, 512, *full(256)])
def test_room_is_free_when_the_completion_left_the_phy(data_width):
    """A client that accepts no data does not hold up the next request: its data has left the PHY's buffer."""
    bench = Bench(data_width, host=Host(split=64), buffer_blocks=1)
    port  = bench.layer.add_read_port("port", 4)
    reads = []

    class Late(Reader):
        """A client that accepts data 200 cycles after the start."""
        def watchers(self):
            @passive
            def accept_late():
                for _ in range(200):
                    yield
                reads.append(len(bench.host.reads))
                yield port.data.ready.eq(1)
                while True:
                    yield
            return [accept_late(), self.data.watch()]
    client = Late(port, [(0x1000 + 64*n, 64, 64*n) for n in range(3)], bench.stalls())
    bench.run([client])
    assert reads == [3]
    assert [reason for reason, _ in client.retired] == [0, 0, 0]
