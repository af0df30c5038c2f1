#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What a loopback slave sends (PCIe 2.1 4.2.6.10.2)."""

from migen import *

from litex.gen import *

from litepcie_soc.phy.soft.symbols import EDB


class Loopback(LiteXModule):
    """Sends back the received symbols, neither descrambled nor aligned. Only the elastic buffer adds or removes SKP.

    The SerDes has decoded the symbols, and codes them again. So a symbol with a wrong code or a wrong running disparity
    cannot go back as it came: EDB goes out instead, also for symbols that the elastic buffer lost. A master
    that compares sees an error in each case.

    Attributes
    ----------
    enable  : 1, **in**, ``sys``; without it, the outputs are 0.
    valid, data, k, error : 1, 16, 2, 2, **in**; received symbols, of `SerDesInterface`.
    data_out, k_out : 16, 2, **out**; a cycle later.
    """
    def __init__(self):
        self.enable   = Signal()
        self.valid    = Signal()
        self.data     = Signal(16)
        self.k        = Signal(2)
        self.error    = Signal(2)
        self.data_out = Signal(16)
        self.k_out    = Signal(2)

        # # #

        for n in range(2):
            good       = self.valid & ~self.error[n]
            self.sync += [
                self.data_out[8*n:8*n + 8].eq(Mux(good, self.data[8*n:8*n + 8], EDB)),
                self.k_out[n].eq(~good | self.k[n]),
            ]
        self.sync += If(~self.enable, self.data_out.eq(0), self.k_out.eq(0))
