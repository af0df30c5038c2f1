#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The PHY of the simulation. It connects its streams to top-level ports, which the link model drives."""

from migen import *

from litex.gen import *

from litex.build.generic_platform import Pins, Subsignal
from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import RCB_BYTES, check_data_width, phy_layout
from litepcie_soc.phy.completion_buffer import DEPTH, blocks_of
from litepcie_soc.phy.shapes import REPORTED_ERRORS, error_record

# Ports --------------------------------------------------------------------------------------------

# Streams of each shape, {prefix of the ports: attribute of the PHY}: card to host, then host to card.
SHARED_STREAMS = ({"tx": "sink"}, {"rx": "source"})
SPLIT_STREAMS  = (
    {"tx_req": "req_sink",   "tx_cmp": "cmp_sink"},
    {"rx_req": "req_source", "rx_cmp": "cmp_source"},
)


MSIX_PORTS = ("msix_enable", "msix_function_mask")


def sim_phy_io(data_width, split=False, msix=False):
    """Platform resources of the simulation PHY: top-level ports `tx_*`, `rx_*` (`split`: `tx_req_*`, `tx_cmp_*`,
    `rx_req_*`, `rx_cmp_*`), `phy_*` and `msi_*`; `msix`: `phy_msix_*`."""
    def beat():
        return [
            Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)),
            Subsignal("first", Pins(1)), Subsignal("last",  Pins(1)),
            Subsignal("dat", Pins(data_width)), Subsignal("be", Pins(data_width//8)),
        ]
    tx, rx = SPLIT_STREAMS if split else SHARED_STREAMS
    return [
        *[(name, 0, *beat()) for name in (*tx, *rx)],
        ("phy", 0,
            Subsignal("id",                Pins(16)),
            Subsignal("max_payload_size",  Pins(16)),
            Subsignal("max_request_size",  Pins(16)),
            Subsignal("extended_tag",      Pins(1)),
            Subsignal("bus_master_enable", Pins(1)),
            Subsignal("link_up",           Pins(1)),
            Subsignal("msi_enable",        Pins(1)),
            Subsignal("relaxed_ordering_enable", Pins(1)),
            Subsignal("no_snoop_enable",   Pins(1)),
            Subsignal("rcb_128",           Pins(1)),
            Subsignal("function_reset",    Pins(1)),
            Subsignal("function_reset_done", Pins(1)),
            *[Subsignal(f"error_{name}", Pins(1)) for name in REPORTED_ERRORS],
            *([Subsignal(name, Pins(1)) for name in MSIX_PORTS] if msix else []),
        ),
        ("msi", 0, Subsignal("valid", Pins(1)), Subsignal("ready", Pins(1)), Subsignal("dat", Pins(8))),
    ]

# Simulation PHY -----------------------------------------------------------------------------------

# Completion buffer of an ideal PHY, which limits no read: (completions, bytes of data).
IDEAL_SPACE = (512, 512*RCB_BYTES)


class SimPHY(LiteXModule):
    """A PHY of either shape without a hard block.

    Parameters
    ----------
    data_width : int, bits.
    pads       : dict, every resource of `sim_phy_io` by name; None in unit tests.
    split      : bool, separate channels for requests and completions, as on UltraScale.
    endianness : "big" or "little", byte order of payload dwords.
    bar0_size  : int, bytes.
    completion_space  : (int, int), completions and bytes of data that the hard block holds. The link model reports an
        error if outstanding reads need more.
    msix       : bool, the function has MSI-X.
    fabric_width      : int, bits of a hard block whose completions go through a CompletionBuffer in the fabric, as on
        UltraScale; 0: there is none. The link model has that buffer, and reports an error if it overflows.

    Attributes
    ----------
    sink                   : stream of `phy_layout`, **in**, shared shape, TLPs of the card.
    source                 : stream of `phy_layout`, **out**, shared shape, TLPs of the host.
    req_sink, cmp_sink     : streams of `phy_layout`, **in**, split shape, TLPs of the card. The link model keeps
        completions after the posted writes accepted before them.
    req_source, cmp_source : streams of `phy_layout`, **out**, split shape, TLPs of the host.
    msi                    : stream of `dat[8]` (vector), **in**; the link model sends an MSI after every TLP accepted
        before it.
    id                     : Signal(16), **out**, bus, device and function number.
    max_payload_size       : Signal(16), **out**, bytes.
    max_request_size       : Signal(16), **out**, bytes.
    extended_tag           : Signal(), **out**, Extended Tag Field Enable.
    bus_master_enable      : Signal(), **out**, requests may be sent.
    link_up                : Signal(), **out**, the link is up.
    msi_enable             : Signal(), **out**, MSI Enable.
    msix_enable, msix_function_mask : Signal(), **out**, MSI-X Enable and Function Mask; None without `msix`.
    relaxed_ordering_enable, no_snoop_enable : Signal(), **out**, Enable Relaxed Ordering and Enable No Snoop.
    rcb_128                : Signal(), **out**, the host splits completions at multiples of 128 bytes only.
    function_reset         : Signal(), **out**, a function level reset waits for `function_reset_done`.
    function_reset_done    : Signal(), **in**, one cycle: the function is reset.
    errors                 : Record of `error_record`, **in**.
    completion_space  : (int, int), the parameter.
    fabric_width, fabric_beats : int, the parameter, and the beats of that buffer.
    fabric_blocks     : (int, int), blocks of 64 and of 128 bytes that it holds; None if there is none.
    """
    qword_aligned     = False
    def __init__(self, data_width, *, pads=None, split=False, endianness="big", bar0_size=0x200000,
        completion_space=IDEAL_SPACE, fabric_width=0, msix=False):
        check_data_width(data_width)
        if endianness not in ("big", "little"):
            raise ValueError(f"endianness {endianness!r} is not supported; choose 'big' or 'little'")
        if fabric_width and not split:
            raise ValueError("fabric_width is not supported with one stream for requests and completions; choose split")
        self.data_width = data_width
        self.split      = split
        self.endianness = endianness
        self.bar0_size  = bar0_size
        self.completion_space  = completion_space
        self.fabric_width      = fabric_width
        self.fabric_beats      = DEPTH if fabric_width else 0
        self.fabric_blocks     = blocks_of(DEPTH, fabric_width) if fabric_width else None

        self.tx_streams, self.rx_streams = SPLIT_STREAMS if split else SHARED_STREAMS
        for name in (*self.tx_streams.values(), *self.rx_streams.values()):
            setattr(self, name, stream.Endpoint(phy_layout(data_width), name=name))
        self.msi = stream.Endpoint([("dat", 8)])

        self.id                = Signal(16)
        self.max_payload_size  = Signal(16)
        self.max_request_size  = Signal(16)
        self.extended_tag      = Signal()
        self.bus_master_enable = Signal()
        self.link_up           = Signal()
        self.msi_enable        = Signal()
        self.msix_enable, self.msix_function_mask = (Signal(), Signal()) if msix else (None, None)
        # Without pads these two have the values that they have after a reset (PCIe 4.0 7.5.3.4).
        self.relaxed_ordering_enable = Signal(reset=1)
        self.no_snoop_enable         = Signal(reset=1)
        self.rcb_128                 = Signal()
        self.function_reset          = Signal()
        self.function_reset_done     = Signal()
        self.errors                  = error_record()

        # # #

        if pads is not None:
            self.connect_pads(pads)

    def connect_pads(self, pads):
        for port, name in self.tx_streams.items():
            self.connect_stream(getattr(self, name), pads[port])
        for port, name in self.rx_streams.items():
            self.connect_stream(pads[port], getattr(self, name))
        phy, msi = pads["phy"], pads["msi"]
        self.comb += [
            msi.valid.eq(self.msi.valid),
            msi.dat.eq(self.msi.dat),
            self.msi.ready.eq(msi.ready),
            phy.function_reset_done.eq(self.function_reset_done),
            *[getattr(phy, f"error_{name}").eq(getattr(self.errors, name)) for name in REPORTED_ERRORS],
        ]
        for name in ("id", "max_payload_size", "max_request_size", "extended_tag", "bus_master_enable", "link_up",
            "msi_enable", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128", "function_reset",
            *([] if self.msix_enable is None else MSIX_PORTS)):
            self.comb += getattr(self, name).eq(getattr(phy, name))

    def connect_stream(self, source, sink):
        self.comb += [getattr(sink, name).eq(getattr(source, name)) for name in ("valid", "first", "last", "dat", "be")]
        self.comb += source.ready.eq(sink.ready)
