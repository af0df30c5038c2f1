#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LitePCIe's 7-series PHY with our own clock crossing, alignment, MSI ordering and link state."""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie.phy.s7pciephy import S7PCIEPHY

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.pcie import TAGS_WITHOUT_EXTENDED
from litepcie_soc.phy.crossing import LinkCrossing, in_pcie
from litepcie_soc.phy.framing import StraddleAligner
from litepcie_soc.phy.gate import MSIGate
from litepcie_soc.phy.hard_block import compare_settings
from litepcie_soc.phy.order import CommittedCounter, NonPostedLimit, PostedOrder
from litepcie_soc.phy.shapes import error_record

# PHY ----------------------------------------------------------------------------------------------

PCIE_DATA_WIDTHS = (64, 128)  # Bits of the hard block.


class Series7PHY(S7PCIEPHY):
    """`S7PCIEPHY` with our crossings in place of LitePCIe's, and with the signals that `PHYShape` needs.

    Raises ValueError for an unsupported data width.

    Parameters
    ----------
    data_width      : int, bits in `sys`: `pcie_data_width` or twice that.
    bar0_size       : int, bytes of BAR0; the register map needs the default.
    pcie_data_width : int, bits of the hard block, 64 or 128. None chooses `data_width`, at most 128.
    options         : the other parameters of `S7PCIEPHY`.

    Attributes
    ----------
    sink              : stream of `phy_layout(data_width)`, **in**, TLPs of the card.
    source            : stream of `phy_layout(data_width)`, **out**, TLPs of the host.
    msi               : stream of `dat[8]` (vector), **in**; an MSI enters the hard block after the TLPs before it.
    bus_master_enable : Signal(), **out**, the host allows the card to send requests.
    link_up           : Signal(), **out**, the link is up.
    extended_tag      : Signal(), **out**, Extended Tag Field Enable.
    relaxed_ordering_enable, no_snoop_enable : Signal(), **out**, of Device Control.
    rcb_128           : Signal(), **out**, Read Completion Boundary of Link Control.
    function_reset    : Signal(), **out**, always 0: the block has no function level reset (PG054, "cfg_received_func_
        lvl_rst"). A hot reset takes the link down.
    function_reset_done : Signal(), **in**, ignored.
    errors            : Record of `error_record`, **in**, see `add_error_reports`.
    non_posted_taken  : Signal(), **in**, one cycle: a non-posted request of the host is complete, see NonPostedLimit.
    gen, nlanes       : int, generation and lanes of the link.
    max_tags          : int, requests that can be outstanding.
    identity          : dict, PCI identity; None before `identify` (gateware/board/identity.py) sets it.
    """
    identity = None

    def __init__(self, platform, pads, data_width=64, pcie_data_width=None, bar0_size=BAR0_SIZE, **options):
        pcie_data_width = pcie_data_width or min(data_width, max(PCIE_DATA_WIDTHS))
        if pcie_data_width not in PCIE_DATA_WIDTHS:
            raise ValueError(f"pcie_data_width {pcie_data_width!r} is not supported; choose 64 or 128")
        S7PCIEPHY.__init__(self, platform, pads, data_width=pcie_data_width, cd="pcie", bar0_size=bar0_size, **options)
        self.update_config({
            "Bar0_Size":              bar0_size >> 20,  # LitePCIe's class leaves it at 1 MiB.
            "mode_selection":         "Advanced",       # The Basic mode has no AER.
            "AER_Enabled":            True,
            "AER_Completion_Timeout": True,             # Optional (PCIe 4.0 7.8.4.2), and reported by us.
        })
        self.data_width = data_width

        # # #

        ports = self.pcie_phy_params
        if pcie_data_width == 128:
            self.align(ports)
        self.crossing = crossing = LinkCrossing(data_width, pcie_data_width, self._link_status.fields.status)
        transmit      = crossing.transmit(self.sink)
        self.sink     = transmit.sink
        receive       = crossing.receive(self.source)
        self.source   = receive.source
        self.non_posted = non_posted = NonPostedLimit(receive.start.source)
        self.non_posted_taken        = non_posted.taken
        self.comb    += non_posted.reset.eq(~receive.link_up)
        # While it is deasserted, posted requests and completions pass non-posted requests in the block. One or two more
        # of these may come (PG054, "Receive Interface").
        ports["i_rx_np_ok"] = non_posted.room
        self.msi      = self.ordered(crossing.message(self.gated(self.msi, ports)).sink, transmit.source)
        # Transmit Source Discontinue: the block does not send a TLP that a reset truncated (PG054, "Transmit
        # Interface").
        ports["i_s_axis_tx_tuser"] = Cat(Constant(0, 3), transmit.cut)

        self.link_up           = crossing.link_up
        self.bus_master_enable = self._bus_master_enable.status
        self.add_configuration(ports)
        self.add_error_reports(ports)

    @property
    def gen(self):
        return {"2.5_GT/s": 1, "5.0_GT/s": 2}[self.config.get("Link_Speed", "5.0_GT/s")]

    @property
    def max_tags(self):
        """The host enables more than 32 only if the core offers it."""
        return 256 if self.config.get("Extended_Tag_Field") else TAGS_WITHOUT_EXTENDED

    def add_configuration(self, ports):
        """Transfers bits of Device Control and Link Control (PCIe 4.0 7.5.3.4, 7.5.3.7) to `sys`."""
        self.extended_tag            = Signal()
        self.relaxed_ordering_enable = Signal()
        self.no_snoop_enable         = Signal()
        self.rcb_128                 = Signal()
        self.function_reset          = Constant(0)
        self.function_reset_done     = Signal()
        device_control, link_control = ports["o_cfg_dcommand"], Signal(16)
        ports["o_cfg_lcommand"]      = link_control
        # The host sets bit 8 only if the core offers it ("Extended_Tag_Field").
        for bit, signal in (
            (device_control[8],  self.extended_tag),
            (device_control[4],  self.relaxed_ordering_enable),
            (device_control[11], self.no_snoop_enable),
            (link_control[3],    self.rcb_128),
        ):
            self.specials += MultiReg(bit, signal)

    def add_error_reports(self, ports):
        """Reports errors through cfg_err_*, each with a strobe of one cycle of `pcie` (PG054, "Error Reporting").

        A timeout is advisory, as the driver repeats or fails the transfer: cfg_err_norecovery stays 0. The block
        itself reports a poisoned TLP (parameter DISABLE_RX_POISONED_RESP is FALSE). cfg_err_ur would make the block
        send a completion, which the card's own completer does. The error is therefore reported as a correctable one,
        as PCIe 4.0 6.2.3.2.4.1 demands for a request with a completion.
        """
        self.errors = errors = error_record()
        ports.update(
            i_cfg_err_cpl_timeout  = self.crossing.strobe(errors.completion_timeout),
            i_cfg_err_cpl_unexpect = self.crossing.strobe(errors.unexpected_completion),
            i_cfg_err_cor          = self.crossing.strobe(errors.unsupported_request),
        )

    def gated(self, msi, ports):
        """Returns a stream in `pcie` that feeds cfg_interrupt while the host allows an MSI."""
        self.msi_gate = gate = in_pcie(MSIGate())
        self.comb += [
            gate.source.connect(msi),
            gate.enable.eq(ports["o_cfg_interrupt_msienable"]),
            gate.master.eq(ports["o_cfg_command"][2]),
        ]
        return gate.sink

    def ordered(self, msi, transmitted):
        """Returns a stream that feeds `msi` and holds an MSI until the TLPs before it left `transmitted` (`pcie`)."""
        self.committed = committed = CommittedCounter([transmitted.valid & transmitted.ready & transmitted.last])
        self.order     = order     = PostedOrder()
        self.comb += [
            order.accepted.eq(self.sink.valid & self.sink.ready & self.sink.last),
            order.committed.eq(committed.count),
            order.reset.eq(~self.crossing.link_up),
        ]
        return order.after_posted(msi, packets=False)

    def align(self, ports):
        """Inserts our aligner before LitePCIe's, which then never sees a TLP that begins at dword 2."""
        self.aligner = aligner = in_pcie(StraddleAligner())
        sink, source = aligner.sink, aligner.source
        inner = {name: ports[f"o_m_axis_rx_{name}"] for name in ("tvalid", "tdata", "tkeep", "tuser")}
        ready = ports["i_m_axis_rx_tready"]
        user  = Signal(len(inner["tuser"]))
        ports.update(
            o_m_axis_rx_tvalid = sink.valid,
            o_m_axis_rx_tdata  = sink.dat,
            o_m_axis_rx_tkeep  = sink.be,
            o_m_axis_rx_tuser  = user,
            i_m_axis_rx_tready = sink.ready,
        )
        self.comb += [
            aligner.sof.eq(user[10:15]),
            aligner.eof.eq(user[17:22]),
            inner["tvalid"].eq(source.valid),
            inner["tdata"].eq(source.dat),
            inner["tkeep"].eq(source.be),
            inner["tuser"][21].eq(source.last),
            source.ready.eq(ready),
        ]

    def add_sources(self, platform, *args, **options):
        commands = platform.toolchain.pre_synthesis_commands
        before   = len(commands)
        S7PCIEPHY.add_sources(self, platform, *args, **options)
        commands[before:] = compare_settings(commands[before:])
