#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LitePCIe's PHYs of UltraScale and UltraScale+ with the project's own logic around the hard block.

LitePCIe 2024.12's classes provide clocking, registers and Vivado's configuration of the IP. We replace their clock
crossing (see `crossing.py`) and their Verilog between streams and IP, which has these faults:

- `s_axis_rq_adapt_256b.v` takes the address from dwords 2 and 3 of the header for every format. The 128-bit and 512-bit
  files send 0 for the upper address.
- `m_axis_rc_adapt_*.v` recognise a completion with data by its byte count. A completion with an error status has a
  count and no data; it becomes a completion of 1024 dwords. They also clear EP, and `be` follows the requested bytes
  instead of the dwords present. The 512-bit file misnames a port and does not elaborate.
- `m_axis_cq_adapt_*.v` need an extra cycle for each TLP that ends in its first beat. They turn messages and atomic
  operations into memory reads.
- All files lose Attr[2], and the 512-bit files leave sideband signals open. None keeps `tvalid` asserted within a
  packet, and the block nullifies a packet with a gap.
- The support modules leave out the sequence numbers, so completions can overtake the writes before them. They choose
  the vector of an MSI by the number of enabled vectors and ignore the requested vector.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common.abi import BAR0_SIZE
from litepcie_soc.common.link_rates import link_rate
from litepcie_soc.common.pcie import DATA_WIDTHS, has_data
from litepcie_soc.phy.completion_buffer import DEPTH, CompletionBuffer, blocks_of, keeps_up
from litepcie_soc.phy.crossing import LinkCrossing, Narrower, Wider
from litepcie_soc.phy.hard_block import compare_settings
from litepcie_soc.phy.order import CommittedCounter, HandedCounter, NonPostedCredits, NonPostedLimit, PostedOrder
from litepcie_soc.phy.shapes import error_record
from litepcie_soc.phy.ultrascale.control import (
    EXTENDED_TAG, NO_SNOOP, RELAXED_ORDERING, DeviceControl, FunctionLevelReset, FunctionResetEnd, MSIPort,
)
from litepcie_soc.phy.ultrascale.descriptors import (
    LOWER_ADDRESS_BITS, TAGS_OF_ULTRASCALE, CompleterCompletion, CompleterRequest, ReadsPassed, RequesterCompletion,
    RequesterRequest, axi_layout,
)
from litepcie_soc.phy.ultrascale.straddle import STRADDLE_WIDTHS, SegmentAligner, SegmentMarks, segments_layout

# Other Ports --------------------------------------------------------------------------------------
# Ports of the IP of UltraScale's hard blocks that need no logic of ours.

# Constant inputs of both families.
TIED = dict(
    i_cfg_mgmt_write                               = 0,
    i_cfg_mgmt_write_data                          = 0,
    i_cfg_mgmt_byte_enable                         = 0,
    i_cfg_fc_sel                                   = 0b100,  # cfg_fc_* are the credits that the host gives us.
    i_cfg_msg_transmit                             = 0,
    i_cfg_msg_transmit_type                        = 0,
    i_cfg_msg_transmit_data                        = 0,
    i_cfg_hot_reset_in                             = 0,
    i_cfg_power_state_change_ack                   = 1,  # The card prepares nothing before a change of power state.
    i_cfg_err_uncor_in                             = 0,  # See _HardBlock.add_error_reports.
    i_cfg_vf_flr_done                              = 0,
    i_cfg_link_training_enable                     = 1,
    i_cfg_config_space_enable                      = 1,
    i_cfg_req_pm_transition_l23_ready              = 0,
    i_cfg_dsn                                      = 0,
    i_cfg_ds_port_number                           = 0,
    i_cfg_ds_bus_number                            = 0,
    i_cfg_ds_device_number                         = 0,
    i_cfg_interrupt_int                            = 0,
    i_cfg_interrupt_pending                        = 0,
    i_cfg_interrupt_msi_select                     = 0,
    i_cfg_interrupt_msi_pending_status             = 0,
    i_cfg_interrupt_msi_pending_status_data_enable = 0,
    i_cfg_interrupt_msi_attr                       = 0,
    i_cfg_interrupt_msi_tph_present                = 0,
    i_cfg_interrupt_msi_tph_type                   = 0,
    i_cfg_interrupt_msi_tph_st_tag                 = 0,
    i_cfg_interrupt_msi_function_number            = 0,
    i_cfg_interrupt_msi_pending_status_function_num = 0,
)

# Constant inputs of one family only.
TIED_ULTRASCALE = dict(
    i_cfg_mgmt_type1_cfg_reg_access   = 0,
    i_cfg_per_func_status_control     = 0,
    i_cfg_per_function_number         = 0,
    i_cfg_per_function_output_request = 0,
    i_cfg_ds_function_number          = 0,
    i_cfg_subsys_vend_id              = 0x10ee,
    i_pcie_perstn1_in                 = 0,
)
TIED_ULTRASCALE_PLUS = dict(
    i_cfg_mgmt_function_number         = 0,
    i_cfg_mgmt_debug_access            = 0,
    i_cfg_vf_flr_func_num              = 0,
    i_cfg_pm_aspm_l1_entry_reject      = 0,
    i_cfg_pm_aspm_tx_l0s_entry_disable = 0,
)

# Ports that LitePCIe's support module connects under the names of the IP; these connections stay.
KEPT = (
    "o_pci_exp_txp", "o_pci_exp_txn", "i_pci_exp_rxp", "i_pci_exp_rxn", "i_sys_clk", "i_sys_clk_gt", "o_user_lnk_up",
    "o_cfg_phy_link_down", "o_cfg_phy_link_status", "o_cfg_negotiated_width", "o_cfg_current_speed",
    "o_cfg_max_read_req", "o_cfg_function_status", "o_cfg_ltssm_state",
)

# PHY ----------------------------------------------------------------------------------------------

# User clock in MHz for each (gen, lanes, bits) of the adapters. Source: PG213, "Supported Clock Frequencies and
# Interface Widths". UltraScale has neither x16 nor 512 bits (PG156, "AXI-ST Interface Width").
GEN3_CLOCKS = {(3, 1, 128): 125, (3, 2, 128): 125, (3, 4, 128): 250, (3, 4, 256): 125, (3, 8, 256): 250,
    (3, 16, 512): 250}
GEN4_CLOCKS = {(4, 4, 256): 250, (4, 8, 512): 250}
USER_CLOCKS = GEN3_CLOCKS | GEN4_CLOCKS

# Beginnings of the names of the UltraScale+ devices with HBM, which have PCIE4C blocks, for Gen4 (DS890). The other
# devices are taken for ones with PCIE4 blocks.
PCIE4C_DEVICES = ("xcu50", "xcu55", "xcu280", "xcvu31p", "xcvu33p", "xcvu35p", "xcvu37p", "xcvu45p", "xcvu47p",
    "xcvu57p")

# Bits of the block by lanes, where they differ from those of the adapters: at x1 the block offers 64 bits only. At
# 125 MHz these carry the 1 GB/s of the link.
BLOCK_WIDTHS = {1: 64}

# Bit of cfg_function_status (PG156, PG213), which holds I/O, memory and bus master enable of function 0, and more.
BUS_MASTER = 2


# Generations by the names that LitePCIe's classes have for the speed.
GENS = {"gen3": 3, "gen4": 4}


class _IPOnly:
    """A platform for LitePCIe's `add_sources` that accepts the IP and ignores the Verilog around it."""
    def __init__(self, platform):
        self.platform  = platform
        self.toolchain = platform.toolchain

    def add_ip(self, filename):
        self.platform.add_ip(filename)

    def add_source(self, *args):
        pass

# Common -------------------------------------------------------------------------------------------


class _HardBlock:
    """Common part of both families: a mix-in that precedes LitePCIe's class.

    It replaces `pcie_phy_params` by the connections of the IP itself, and adds the signals that `PHYShape` needs.

    Completions and MSI wait for the posted requests before them. The guides do not describe where an MSI enters the
    block's pipeline. The sequence number, which says that no completion can overtake a request, is the last report of
    a request that the block gives, so MSI wait for it too.

    Attributes
    ----------
    plus               : bool, UltraScale+.
    req_sink, cmp_sink : streams of `phy_layout(data_width)`, **in**, TLPs of the card.
    req_source, cmp_source : streams of `phy_layout(data_width)`, **out**, TLPs of the host.
    completion_buffer  : CompletionBuffer, holds completions of the host (`pcie`).
    fabric_blocks      : (int, int), blocks of 64 and of 128 bytes that it holds, see `blocks_of`; None if the block's
        interface is slower than the link, so that completions gather before it.
    msi                : stream of `dat[8]` (vector), **in**.
    posted             : Signal(HANDED_BITS), **out**, posted requests of the host, see `HandedCounter`.
    id                 : Signal(16), **out**, bus, device and function number.
    bus_master_enable  : Signal(), **out**, requests may be sent.
    link_up            : Signal(), **out**, the link is up.
    extended_tag       : Signal(), **out**, Extended Tag Field Enable.
    relaxed_ordering_enable, no_snoop_enable : Signal(), **out**, of Device Control.
    rcb_128            : Signal(), **out**, Read Completion Boundary of Link Control.
    function_reset     : Signal(), **out**, a function level reset waits for `function_reset_done`.
    function_reset_done : Signal(), **in**, one cycle: the function is reset.
    errors             : Record of `error_record`, **in**, see `add_error_reports`.
    non_posted_taken   : Signal(), **in**, one cycle: a non-posted request of the host is complete, see NonPostedLimit.
    gen, nlanes        : int, generation and lanes of the link.
    lower_address_bits : int, bits of a completion's lower address that `CompletionCheck` compares.
    identity           : dict, PCI identity; None before `identify` (gateware/board/identity.py) sets it.
    """
    identity = None

    @property
    def gen(self):
        return GENS[self.speed]

    def add_hard_block(self, data_width, lower_address_bits):
        if lower_address_bits not in LOWER_ADDRESS_BITS:
            raise ValueError(f"lower_address_bits {lower_address_bits!r} is not supported; choose 2 or 7")
        self.lower_address_bits = lower_address_bits
        self.data_width  = data_width
        self.block_width = BLOCK_WIDTHS.get(self.nlanes, self.pcie_data_width)
        self.ports = ports = {name: self.pcie_phy_params[name] for name in KEPT}
        for name in ("bus_master_enable", "extended_tag", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128",
            "function_reset", "function_reset_done"):
            setattr(self, name, Signal())
        ports.update(TIED)
        ports.update(TIED_ULTRASCALE_PLUS if self.plus else TIED_ULTRASCALE)
        ports.update(
            i_sys_reset  = self.pcie_phy_params["i_sys_rst_n"],
            o_user_clk   = ClockSignal("pcie"),
            o_user_reset = ResetSignal("pcie"),
        )
        self.add_streams()
        self.add_control()
        self.add_crossing()
        self.add_order()
        self.add_error_reports()
        self.pcie_phy_params = ports
        self.update_config(self.block_config())

    @classmethod
    def adapter_width(cls, gen, lanes, data_width):
        """Bits of the adapters: `data_width` or half of it. Raises ValueError if the block offers neither."""
        if (gen, lanes, data_width) in USER_CLOCKS:
            return data_width
        if (gen, lanes, data_width//2) in USER_CLOCKS and data_width in DATA_WIDTHS:
            return data_width//2
        widths = {width*n for *link, width in USER_CLOCKS for n in (1, 2) if link == [gen, lanes]} & set(DATA_WIDTHS)
        raise ValueError(f"{cls.__name__}: data_width {data_width} is not supported at Gen{gen} x{lanes}; choose one "
            f"of {sorted(widths)}")

    def block_config(self):
        """Settings of the IP that LitePCIe leaves out or that we change."""
        config = {
            "axisten_if_width":        f"{self.block_width}_bit",
            "axisten_freq":            USER_CLOCKS[self.gen, self.nlanes, self.pcie_data_width],
            "extended_tag_field":      True,
            "pf0_dev_cap_max_payload": "512_bytes",  # The largest value that LitePCIe's registers can show.
            "pf0_bar0_size":           self.bar0_size >> 20,
            "mode_selection":          "Advanced",   # The Basic mode may lack the next setting.
            "PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE": True,
        }
        if self.pcie_data_width == 512:  # With RC_4TLP, the setting RC has no effect.
            config |= {f"AXISTEN_IF_EXT_512_{name}_STRADDLE": name == "RC_4TLP" for name in ("CQ", "RQ", "RC_4TLP")}
        return config | {"AXISTEN_IF_RC_STRADDLE": self.pcie_data_width == 256}

    def add_streams(self):
        """Connects LitePCIe's streams (`pcie`) to the ports of the IP.

        LitePCIe also drives `first` and `last` of the two streams that it receives. The statements added here come
        later, so they take precedence.
        """
        in_pcie = ClockDomainsRenamer("pcie")
        for name, adapter_class, tlps in (
            ("rq", RequesterRequest,    self.s_axis_rq),
            ("cc", CompleterCompletion, self.s_axis_cc),
            ("cq", CompleterRequest,    self.m_axis_cq),
            ("rc", RequesterCompletion, self.m_axis_rc),
        ):
            adapter  = in_pcie(adapter_class(self.pcie_data_width, self.plus))
            to_block = name in ("rq", "cc")
            setattr(self, f"{name}_adapter", adapter)
            self.comb += tlps.connect(adapter.sink) if to_block else adapter.source.connect(tlps)
            beat = adapter.source if to_block else adapter.sink
            if name == "rc":
                beat = self.buffered(beat)
            block = self.converted(name, beat, to_block)
            self.add_axi(name, block, to_block)
            if name == "rq":
                self.add_read_credits(adapter, block)

    def add_read_credits(self, adapter, block):
        """Gives `adapter` the credits for non-posted headers: pcie_tfc_nph_av and cfg_fc_nph (PG156, PG213).

        Without link or bus mastering the block takes and drops reads, so they need no credits.
        """
        self.ports["o_pcie_tfc_nph_av"] = credits = Signal(4 if self.plus else 2)
        self.ports["o_cfg_fc_nph"]      = count   = Signal(8)
        self.reads_passed = passed = ClockDomainsRenamer("pcie")(ReadsPassed(block))
        lives = self.ports["o_user_lnk_up"] & self.ports["o_cfg_function_status"][BUS_MASTER]
        self.comb += [
            adapter.passed.eq(passed.passed),
            adapter.credits.eq(Mux(lives, credits, 0b1111)),
            adapter.plenty.eq(count[4:] != 0),
        ]

    @property
    def straddle(self):
        """Whether the block may send parts of several completions in one beat, see `straddle.py`."""
        return self.pcie_data_width in STRADDLE_WIDTHS

    def buffered(self, beat):
        """Returns a stream that feeds `beat` through the completion buffer and, with straddle, the aligner."""
        in_pcie, width = ClockDomainsRenamer("pcie"), self.pcie_data_width
        clock    = USER_CLOCKS[self.gen, self.nlanes, width]*1e6
        fits     = keeps_up(link_rate(self.gen, self.nlanes), self.block_width, clock, self.straddle)
        self.fabric_blocks     = blocks_of(DEPTH, width) if fits else None
        layout                 = segments_layout(width) if self.straddle else [("dat", width), ("keep", width//32)]
        self.completion_buffer = buffer = in_pcie(CompletionBuffer(layout))
        if not self.straddle:
            self.comb += buffer.source.connect(beat)
            sink       = stream.Endpoint(beat.description)
            self.comb += sink.connect(buffer.sink, omit={"user"})
            return sink
        self.marks   = marks   = in_pcie(SegmentMarks(width, self.plus))
        self.aligner = aligner = in_pcie(SegmentAligner(width, self.plus))
        self.comb += [
            marks.source.connect(buffer.sink),
            buffer.source.connect(aligner.sink),
            aligner.source.connect(beat),
        ]
        return marks.sink

    def converted(self, name, beat, to_block):
        """Returns `beat`, converted to the width of the block if that differs."""
        if self.block_width == self.pcie_data_width:
            return beat
        adapter, block = (axi_layout(name, width, self.plus) for width in (self.pcie_data_width, self.block_width))
        converter      = Narrower(adapter, block) if to_block else Wider(block, adapter)
        converter      = ClockDomainsRenamer("pcie")(converter)
        setattr(self, f"{name}_converter", converter)
        self.comb += beat.connect(converter.sink) if to_block else converter.source.connect(beat)
        return converter.source if to_block else converter.sink

    def add_axi(self, name, beat, to_block):
        prefix, into, outof = ("s_axis", "i", "o") if to_block else ("m_axis", "o", "i")
        fields = {"tvalid": beat.valid, "tlast": beat.last, "tdata": beat.dat, "tkeep": beat.keep, "tuser": beat.user}
        self.ports.update({f"{into}_{prefix}_{name}_{field}": signal for field, signal in fields.items()})
        self.ports[f"{outof}_{prefix}_{name}_tready"] = beat.ready

    def add_control(self):
        in_pcie = ClockDomainsRenamer("pcie")
        self.msi_port = msi     = in_pcie(MSIPort())
        self.control  = control = in_pcie(DeviceControl(self.capability))
        self.flr      = flr     = in_pcie(FunctionLevelReset())
        rcb           = Signal(4)   # One bit per function.
        enabled, payload = Signal(4), Signal(2 if self.plus else 3)
        self.comb += [
            self.msi.connect(msi.sink),
            msi.enable.eq(enabled[0]),
            msi.master.eq(self.ports["o_cfg_function_status"][BUS_MASTER]),
            self.pcie_phy_params["o_cfg_interrupt_msi_enable"].eq(enabled[0]),
            self.pcie_phy_params["o_cfg_max_payload"].eq(payload),
        ]
        self.specials += [
            MultiReg(control.value[EXTENDED_TAG],     self.extended_tag),
            MultiReg(control.value[RELAXED_ORDERING], self.relaxed_ordering_enable),
            MultiReg(control.value[NO_SNOOP],         self.no_snoop_enable),
            MultiReg(rcb[0],                          self.rcb_128),
            MultiReg(self.ports["o_cfg_function_status"][BUS_MASTER], self.bus_master_enable),
        ]
        self.add_function_reset(flr)
        self.ports.update(
            o_cfg_max_payload          = payload,
            i_cfg_mgmt_addr            = control.address,
            i_cfg_mgmt_read            = control.read,
            o_cfg_mgmt_read_data       = control.data,
            o_cfg_mgmt_read_write_done = control.done,
            o_cfg_rcb_status           = rcb,
            o_cfg_flr_in_process       = flr.in_process,
            i_cfg_flr_done             = flr.done,
            o_cfg_interrupt_msi_enable = enabled,
            i_cfg_interrupt_msi_int    = msi.interrupt,
            o_cfg_interrupt_msi_sent   = msi.sent,
            o_cfg_interrupt_msi_fail   = msi.failed,
        )

    def add_function_reset(self, flr):
        """Transfers the function level reset to `sys`, and its end to `pcie`."""
        self.flr_end = end = FunctionResetEnd()
        self.comb += [
            end.function_reset.eq(self.function_reset),
            end.done.eq(self.function_reset_done),
        ]
        self.specials += [
            MultiReg(flr.waiting, self.function_reset),
            MultiReg(end.reset, flr.reset, "pcie"),
        ]

    def add_crossing(self):
        """Replaces LitePCIe's streams, which are in `pcie`, by streams in `sys`."""
        link_up         = self._link_status.fields.status
        self.crossing   = crossing = LinkCrossing(self.data_width, self.pcie_data_width, link_up,
            drained=self.completion_buffer.level == 0)
        self.link_up    = crossing.link_up
        requests        = crossing.transmit(self.req_sink)
        completions     = crossing.transmit(self.cmp_sink)
        self.comb      += [self.rq_adapter.cut.eq(requests.cut), self.cc_adapter.cut.eq(completions.cut)]
        self.req_sink   = requests.sink
        self.cmp_sink   = completions.sink
        received        = crossing.receive(self.req_source)
        self.req_source = received.source
        self.cmp_source = crossing.receive(self.cmp_source).source
        self.msi        = crossing.message(self.msi).sink
        # In reset, the crossing drops what the hard block hands over.
        self.handed     = HandedCounter(self.cq_adapter.posted & ~crossing.cd_pcie_link.rst)
        self.posted     = self.handed.handed
        self.add_non_posted(received)

    def add_non_posted(self, received):
        """Asks the block for a few non-posted requests at a time; posted ones pass the others in the block."""
        self.non_posted = limit   = NonPostedLimit(received.start.source)
        self.np_credits = credits = ClockDomainsRenamer("pcie")(NonPostedCredits())
        self.non_posted_taken     = limit.taken
        self.comb += [
            limit.reset.eq(~received.link_up),
            credits.held.eq(limit.held),
        ]
        wanted = Cat(credits.credit, 0) if self.plus else credits.credit     # UltraScale+ could give two in a cycle.
        self.ports.update(i_pcie_cq_np_req=wanted, o_pcie_cq_np_req_count=credits.count)

    def add_order(self):
        bits    = 6 if self.plus else 4
        strobes = []
        for port in ("0", "1") if self.plus else ("",):   # UltraScale+ may report two requests in a cycle.
            number, valid = Signal(bits), Signal()
            self.ports[f"o_pcie_rq_seq_num{port}"]     = number
            self.ports[f"o_pcie_rq_seq_num_vld{port}"] = valid
            strobes.append(valid & number[-1])
        self.committed = committed = CommittedCounter(strobes)
        self.order     = order     = PostedOrder()
        request        = self.req_sink
        self.comb += [
            order.accepted.eq(request.valid & request.ready & request.first & has_data(request.dat)),
            order.committed.eq(committed.count),
            order.reset.eq(~self.link_up | ~self.bus_master_enable | self.function_reset),
        ]
        self.cmp_sink = order.after_posted(self.cmp_sink, packets=True)
        self.msi      = order.after_posted(self.msi,      packets=False)

    def add_error_reports(self):
        """Reports errors as corrected internal errors: cfg_err_cor_in, one cycle (PG156, PG213, "Configuration Control
        Interface").

        The block offers only this and cfg_err_uncor_in, an uncorrectable internal error, which is fatal unless the
        host changes its severity (PCIe 4.0 7.8.4.4): the host would reset the link. The driver recovers from each of
        our errors, and such errors are signalled as correctable ones (PCIe 4.0 6.2.3.2.4). The block itself reports
        poisoned TLPs.
        """
        self.errors = errors = error_record()
        strobe      = self.crossing.strobe
        self.ports["i_cfg_err_cor_in"] = (strobe(errors.completion_timeout) | strobe(errors.unexpected_completion) |
            strobe(errors.unsupported_request))

    def add_sources(self, platform, phy_path=None, phy_filename=None):
        commands = platform.toolchain.pre_synthesis_commands
        before   = len(commands)
        super().add_sources(_IPOnly(platform), phy_path, phy_filename)
        commands[before:] = compare_settings(commands[before:])

    def do_finalize(self):
        if not self.external_hard_ip:
            self.add_sources(self.platform)
        self.specials += Instance(self.module, **self.pcie_phy_params)

# PHYs ---------------------------------------------------------------------------------------------


class UltraScalePHY(_HardBlock, USPCIEPHY):
    """UltraScale PHY, Gen3 x1, x2, x4 or x8.

    Raises ValueError for a width that the block does not offer with the lanes of `pads`.

    Parameters
    ----------
    data_width : int, bits in `sys`: the width of the adapters or twice that (see USER_CLOCKS).
    bar0_size  : int, bytes of BAR0; the register map needs the default.
    lower_address_bits : int, 2 or 7, bits of a completion's lower address that are compared, see RequesterCompletion.
    options    : the other parameters of LitePCIe's `USPCIEPHY`.

    Attributes
    ----------
    max_tags : int, requests that can be outstanding (PG156, "Tag Management for Non-Posted Transactions").
    others   : see `_HardBlock`.
    """
    plus       = False
    module     = "pcie_us"
    capability = 0xc0   # Byte address of the PCI Express capability.
    max_tags   = TAGS_OF_ULTRASCALE

    def __init__(self, platform, pads, data_width, bar0_size=BAR0_SIZE, lower_address_bits=2, **options):
        USPCIEPHY.__init__(self, platform, pads, cd="pcie",
            data_width = self.adapter_width(3, len(pads.tx_p), data_width), bar0_size=bar0_size, **options)
        self.add_hard_block(data_width, lower_address_bits)


class UltraScalePlusPHY(_HardBlock, USPPCIEPHY):
    """UltraScale+ PHY, Gen3 x1, x2, x4, x8 or x16, and in a PCIE4C block Gen4 x4 or x8.

    The device of the platform says which block it has. Raises ValueError for a width that the block does not offer at
    that rate with the lanes of `pads`, and for Gen4 in a device without a PCIE4C block.

    Parameters
    ----------
    data_width : int, bits in `sys`: the width of the adapters or twice that (see USER_CLOCKS).
    speed      : "gen3" or "gen4".
    bar0_size  : int, bytes of BAR0; the register map needs the default.
    lower_address_bits : int, 2 or 7, bits of a completion's lower address that are compared, see RequesterCompletion.
    options    : the other parameters of LitePCIe's `USPPCIEPHY`.

    Attributes
    ----------
    max_tags : int, requests that can be outstanding (PG213, "Extended Tag").
    others   : see `_HardBlock`.
    """
    plus       = True
    module     = "pcie_usp"
    capability = 0x70   # Byte address of the PCI Express capability.
    max_tags   = 256

    def __init__(self, platform, pads, data_width, bar0_size=BAR0_SIZE, lower_address_bits=2, speed="gen3", **options):
        has_pcie4c = platform.device.startswith(PCIE4C_DEVICES)
        if speed not in GENS:
            raise ValueError(f"UltraScalePlusPHY: speed {speed!r} is not supported; choose {' or '.join(GENS)}")
        if speed == "gen4" and not has_pcie4c:
            raise ValueError(f"UltraScalePlusPHY: Gen4 is not supported by {platform.device}, of which no PCIE4C block "
                "is known; choose Gen3")
        USPPCIEPHY.__init__(self, platform, pads, cd="pcie", speed=speed,
            ip_name    = "pcie4c_uscale_plus" if has_pcie4c else "pcie4_uscale_plus",
            data_width = self.adapter_width(GENS[speed], len(pads.tx_p), data_width), bar0_size=bar0_size, **options)
        self.add_hard_block(data_width, lower_address_bits)
