#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""SerDes of ECP5 at the boundary that the endpoint knows."""

from migen import *

from litex.gen import *

from litepcie_soc.endpoint.serdes.ecp5.channel import ECP5Channel
from litepcie_soc.endpoint.serdes.ecp5.pads import check_pads, reaches_fabric
from litepcie_soc.endpoint.serdes.elastic import ElasticBuffer
from litepcie_soc.endpoint.serdes.interface import SerDesInterface


class ECP5SerDes(LiteXModule):
    """One lane of PCI Express Gen1 on a SerDes channel of ECP5.

    Raises ``ValueError`` with one line if the pads of the platform are not those of the channel.

    Parameters
    ----------
    platform     : LiteX platform; the constraints of the clocks are added to it.
    sys_clk_freq : Hz of ``sys``, which runs the reset sequence.
    name         : pads of the link in the platform, with ``perst``.
    dcu, channel : location of the channel.
    options      : those of ``ECP5Channel``.

    Attributes
    ----------
    interface : ``SerDesInterface``.
    channel   : ``ECP5Channel``.
    elastic   : ``ElasticBuffer``. None: the block itself compensates the clocks.
    clocks    : {net: Hz} of the clocks of the channel.
    """
    def __init__(self, platform, sys_clk_freq, *, name="pcie_x1", dcu=0, channel=0, **options):
        check_pads(platform, name, dcu, channel)
        pads           = platform.request(name)
        self.channel   = ECP5Channel(pads, pads.perst, sys_clk_freq, dcu=dcu, channel=channel,
            measure_refclk=reaches_fabric(platform.device, dcu), **options)
        self.elastic   = elastic_of(self.channel)
        self.clocks    = self.channel.constrain(platform)
        self.interface = SerDesInterface()

        # # #

        self.comb += join(self.channel, self.elastic, self.interface)


class SlowElasticBuffer(LiteXModule):
    """``ElasticBuffer`` that takes a pair in those cycles of ``pcie_rx`` only that have ``valid``.

    Attributes
    ----------
    Those of ``ElasticBuffer``.
    """
    def __init__(self, valid):
        self.buffer  = buffer = CEInserter(["pcie_rx"])(ElasticBuffer())
        self.removed = Signal()
        for name in ("sink_data", "sink_k", "sink_error", "sink_status", "enable", "data", "k", "error", "status",
            "valid", "overflow", "added"):
            setattr(self, name, getattr(buffer, name))

        # # #

        self.comb += [buffer.ce_pcie_rx.eq(valid), self.removed.eq(buffer.removed & valid)]


def elastic_of(channel):
    """Returns the elastic buffer that a channel needs, or None."""
    if channel.ctc:
        return None
    return ElasticBuffer() if channel.geared else SlowElasticBuffer(channel.rx_valid)


def join(channel, elastic, interface):
    """Returns the statements that connect channel, elastic buffer and interface."""
    inputs  = ("tx_data", "tx_k", "tx_idle", "tx_negative", "polarity", "detect")
    outputs = ("rx_idle", "ready", "detect_done", "detect_present")
    return [
        *[getattr(channel, name).eq(getattr(interface, name)) for name in inputs],
        *[getattr(interface, name).eq(getattr(channel, name)) for name in outputs],
        channel.align.eq(interface.rx_align),
        channel.strict.eq(interface.rx_strict),
        *(received(channel, interface) if elastic is None else through(channel, elastic, interface)),
    ]


def received(channel, interface):
    """Returns the statements that give received symbols, which are on the clock of the endpoint, to the interface."""
    return [
        interface.rx_data.eq(channel.rx_data),
        interface.rx_k.eq(channel.rx_k),
        interface.rx_error.eq(channel.rx_error),
        interface.rx_valid.eq(channel.rx_ready),
        interface.rx_overflow.eq(channel.rx_overflow),
    ]


def through(channel, elastic, interface):
    """Returns the statements that pass received symbols through the elastic buffer."""
    return [
        elastic.sink_data.eq(channel.rx_data),
        elastic.sink_k.eq(channel.rx_k),
        elastic.sink_error.eq(channel.rx_error),
        elastic.sink_status.eq(channel.rx_status),
        elastic.enable.eq(channel.rx_ready),
        interface.rx_data.eq(elastic.data),
        interface.rx_k.eq(elastic.k),
        interface.rx_error.eq(elastic.error),
        interface.rx_valid.eq(elastic.valid),
        interface.rx_overflow.eq(elastic.overflow),
    ]
