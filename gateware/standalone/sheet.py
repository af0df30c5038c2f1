#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The integration sheet of a core: its ports, their rules, and what to connect."""

import textwrap

from dataclasses import dataclass

from litepcie_soc.build.generated import table
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.common.pcie import FMT_TYPE_CPLD, FMT_TYPE_MRD_32
from litepcie_soc.soc.link import PCI_ID
from litepcie_soc.standalone.config import Flag, Size, size_text
from litepcie_soc.standalone.ports import GROUPS, group_of, meaning

# Example TLPs -------------------------------------------------------------------------------------
# Example TLPs of the integration sheet: the host reads MAGIC and the core completes the request (PCIe 4.0 2.2).

BAR0      = 0xfe000000
REQUESTER = 0x0008
COMPLETER = 0x0300

# Beats --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beat:
    """One beat at the PHY boundary."""
    dat: int
    be: int
    first: int
    last: int


def beats(dwords, data_width):
    """Returns the beats of a TLP, which is a list of dwords."""
    lanes  = data_width // 32
    pieces = [dwords[n:n + lanes] for n in range(0, len(dwords), lanes)]
    return [Beat(
        dat   = sum(dword << 32 * n for n, dword in enumerate(piece)),
        be    = (1 << 4 * len(piece)) - 1,
        first = int(piece is pieces[0]),
        last  = int(piece is pieces[-1]),
    ) for piece in pieces]

# TLPs ---------------------------------------------------------------------------------------------


def example_read():
    """Returns a MRd of one dword with tag 0 and all byte enables."""
    return [FMT_TYPE_MRD_32 << 24 | 1, REQUESTER << 16 | 0x0f, BAR0 + abi.IDENTITY_BASE]


def example_answer(endianness):
    """Returns a CplD of one dword: successful, 4 bytes."""
    wire = abi.MAGIC.to_bytes(4, "little")
    return [FMT_TYPE_CPLD << 24 | 1, COMPLETER << 16 | 4, REQUESTER << 16, int.from_bytes(wire, endianness)]

# Sheet --------------------------------------------------------------------------------------------

COLUMNS = 120


# What determines the value of a key without a default.
DERIVED = {"clk_freq": "(link)", "stream_port.width": "(data_width)", "phy.completion_buffer_bytes": "(none)",
    "streams[].name": "(needed)", "streams[].depth": "(512 words)",
    **dict.fromkeys(("streams[].width", "streams[].clock"), "(stream_port)")}


def default_text(name, kind):
    """Returns the default of a key in the form of the configuration file."""
    value = kind.default
    if value is None:
        return DERIVED.get(name, "(block)")
    if isinstance(kind, Flag):
        return str(value).lower()
    if isinstance(kind, Size):
        return size_text(value)
    return kind.text(value) if hasattr(kind, "text") else str(value)


def flow(text):
    """Wraps paragraphs and list items at COLUMNS; leaves tables and titles unchanged."""
    lines = []
    for line in text.split("\n"):
        continued = line.startswith("  ") or line[:1].isalnum() and lines and lines[-1][:1].isalnum()
        if continued:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(line if line[:1] in "|#" else textwrap.fill(line, COLUMNS, break_long_words=False,
        break_on_hyphens=False, subsequent_indent="  " * line.startswith("- ")) for line in lines)


def port_table(ports):
    rows, group = [], None
    for port in ports:
        if group != group_of(port.name):
            group = group_of(port.name)
            rows.append((f"**{GROUPS[group][1]}**", "", "", ""))
        rows.append((f"`{port.name}`", port.way, str(port.bits), meaning(port.name)))
    return table(("port", "direction", "bits", "meaning"), rows)


def beat_table(prefix, tlp, data_width):
    """Returns the table of a TLP's beats, one per row, highest dword of `dat` first."""
    rows = []
    for beat in beats(tlp, data_width):
        dat, be = f"`0x{beat.dat:0{data_width // 4}x}`", f"`0x{beat.be:0{data_width // 32}x}`"
        rows.append((str(len(rows)), str(beat.first), str(beat.last), dat, be))
    return table((f"`{prefix}` beat", "first", "last", "dat", "be"), rows)


def summary(config):
    pcie = config.pcie
    path = data_path_rate(config.data_width, config.clk_freq) / 1e6
    link = link_rate(pcie.gen, pcie.lanes) / 1e6
    kind = {"bram": "block RAM", "external": "outside the core", "axi": "behind AXI4"}[config.memory.kind]
    return f"""\
# {config.name}: integration sheet

LitePCIe SoC core, register map {abi.VERSION_MAJOR}.{abi.VERSION_MINOR}, for PCI Express Gen{pcie.gen} x{pcie.lanes}:
{config.data_width} bit at {config.clk_freq / 1e6:g} MHz ({path:.0f} MB/s; the link carries {link:.0f} MB/s each way).
{plural(config.channels, "DMA channel")}, {plural(len(config.streams), "stream")}, {config.tags} tags,
{size_text(config.memory.size)} of endpoint memory ({kind}).

| file | what |
| --- | --- |
| `{config.name}.v` | the core, module `{config.name}`, Verilog 2001; needs no other module |
| `litepcie_regs.h` | pinned register map, descriptor, status block, for a driver |
| `csr.h`, `csr.json` | every register, including those of LiteX |
| `soc.h` | configuration of the core as `CONFIG_*` |"""


def plural(number, what):
    return f"{number or 'no'} {what}" + "s" * (number != 1)


def ports_section(ports):
    return "## Ports\n" + port_table(ports)


def rules_section(config):
    split  = config.phy.shape == "split"
    rx, tx = ("`rx_req` and `rx_cmp`", "`tx_req` and `tx_cmp`") if split else ("`rx`", "`tx`")
    clocks = {"streamN_aclk": stream_clock(config), "user_aclk": config.user_bus.clock}
    own    = [f"`{name}`" for name, clock in clocks.items() if clock == "own"]
    others = f" but those of {' and '.join(own)}" if own else ""
    return f"""\
## Clock, reset, handshake
- `sys_clk` is the clock of every port{others}. It must run at {config.clk_freq / 1e6:g} MHz, because the core measures
  time with it (timeouts, interrupt moderation). Use the PHY's user clock, or cross to `sys_clk` in the PHY.
- Assert `sys_rst` for at least one clock cycle whenever the PHY is in reset.
- A beat moves at a clock edge with valid and ready. Valid does not wait for ready, and a valid beat stays
  unchanged until it is accepted. Ready may change in any cycle, with or without valid.
- While `phy_link_up` is low the core accepts and drops everything on {rx}, and does not wait for ready on {tx}. It may
  cut a TLP short on {tx}, and you may do so on {rx}. When the link is up again, begin with a first beat. Reads
  that were outstanding fail after their timeout; `sys_rst` drops them at once."""


def tlp_section(config):
    payload = {
        "big":    "byte 0 of a payload dword is in its bits 31:24, the integer of the bytes on the wire",
        "little": "byte 0 of a payload dword is in its bits 7:0",
    }[config.phy.endianness]
    split  = config.phy.shape == "split"
    rx, tx = ("rx_req", "tx_cmp") if split else ("rx", "tx")
    order  = SPLIT_ORDER if split else "the PHY sends TLPs in the order in which it accepts them."
    read, answer = example_read(), example_answer(config.phy.endianness)
    small, large = config.phy.completion_blocks
    held   = f"`phy.block: {config.phy.block}`" if config.phy.completion_buffer_bytes is None else (
        f"`phy.completion_buffer_bytes: {config.phy.completion_buffer_bytes}`")
    return f"""\
## TLPs
The streams carry raw TLPs without sequence number, LCRC or ECRC. Each TLP begins in dword 0 of a beat. Header
dwords are integers (bits 31:24 of dword 0: format and type). Payload follows without padding; {payload}.
Example: the host reads MAGIC (BAR0 at 0x{BAR0:08x}, requester 0x{REQUESTER:04x}, `phy_id` 0x{COMPLETER:04x}),
and the core completes the request:

{beat_table(rx, read, config.data_width)}

{beat_table(tx, answer, config.data_width)}

- Present memory requests that hit BAR0{" (`rx_req`)" if split else ""} and completions{" (`rx_cmp`)" if split else ""}.
  The core completes other non-posted requests with Unsupported Request. The PHY handles configuration and messages.
- Requests have a header of 3 dwords below 4 GiB and of 4 dwords above. No request crosses 4 KiB or exceeds
  `phy_max_payload_size` or `phy_max_request_size`. Outstanding requests never need more of the PHY's completion buffer
  than {small} completions of 64 bytes, or {large} completions of 128 bytes with `phy_rcb_128`, unless a single request
  does ({held}).
- Order: {order}
- MSI: `msi_valid` stays high until `msi_ready`. Send an MSI after every TLP that the PHY accepted before it. Data and
  status are then in host memory when the host gets the MSI."""


SPLIT_ORDER = """the last beats define the order between `tx_req` and `tx_cmp`. A completion must not pass a posted
  write that the PHY accepted before it. Likewise a completion on `rx_cmp` must not pass a posted write on `rx_req`."""


def memory_section(config):
    memory = config.memory
    what   = f"{size_text(memory.size)} in words of {config.data_width} bit"
    if memory.kind == "external":
        return f"""\
## Memory
Connect a memory of {what}. Answer every read command once and in order, after any time; the core always has
room for the answer. A read command that is accepted in a later cycle than a write must return the written data. Each
client in the core requests up to {memory.read_ahead} words ahead, so it gets one word per cycle up to that latency in
cycles. A DMA read is complete when the memory accepted its last write."""
    if memory.kind == "axi":
        return f"""\
## Memory
`memory` is an AXI4 master. Connect a memory of {what}; its byte addresses begin at 0.
{own_clock(memory.clock, "memory")}

- Bursts have up to 16 beats. Each client in the core requests up to {memory.read_ahead} words ahead, so it gets one
  word per cycle up to that latency in cycles. Reads and writes are outstanding at the same time.
- A read waits until all writes that the core made before it have their response, so the memory need not order them.
- A DMA read is complete when the responses to its writes have come: what the host then tells your logic, by whatever
  way, it finds in the memory. Writes of the host to its window are posted: read one back before you rely on it.
- A response with an error ends the transfer with REASON_MEMORY_ERROR; the program gets EIO, and a count of bytes before
  the error. An access through the window cannot tell of it: `memory_error` does, for one cycle of `sys_clk`.
- If nothing moves for {memory.timeout_us} us while an answer is due, then every access fails until `sys_rst`:
  `memory_error` stays high, and the card reports that it has no memory. Reset the memory too: it may wait for
  beats.""" + """
- While `memory_aresetn` is low, the core does nothing here. Do not reset a memory that owes responses.""" * (
            memory.clock == "own")
    if memory.user_ports:
        return f"""\
## Memory
The memory of the core has {what}. Your logic shares its write side and its read side with the DMA, round robin. Answers
come in the order of the read commands and wait for `memory_read_data_ready`. A read command that is accepted in a later
cycle than a write returns the written data. Tie unused valid inputs and `memory_read_data_ready` low."""
    return ""


def stream_section(config):
    if not config.streams:
        return ""
    if config.stream_port.face == "axi":
        return axi_stream_section(config)
    return "## Streams" + stream_list(config) + """
Bytes fill a beat from lane 0 without a gap. Only the last beat of a packet may be partial, and no packet is empty.
`source` carries the data from the host; a packet ends where its descriptor has LAST. `sink` accepts packets;
each packet ends a buffer of the host. A sink accepts some beats before the host provides buffers, but none
while its engine
is off."""


def own_clock(clock, prefix):
    """Returns the rules of a clock of its own, or of `sys_clk`, for AXI ports."""
    if clock == "sys":
        return "These ports belong to `sys_clk` and `sys_rst`: reset what is connected to them with `sys_rst`."
    return f"""These ports belong to `{prefix}_aclk`, which may have any frequency, and to `{prefix}_aresetn`, which is
synchronous to it. Declare `sys_clk` and `{prefix}_aclk` as asynchronous to each other (in Vivado by
`set_clock_groups`)."""


def stream_clock(config):
    """Returns "own" if a stream has a clock of its own, or else "sys"."""
    return "own" if any(stream.clock == "own" for stream in config.streams) else "sys"


def stream_list(config):
    """Returns a list of the streams, if the configuration has one."""
    if isinstance(config.wanted_streams, int):
        return ""
    lines = [f"- Stream {n}, `{stream.name}`: {' and '.join(f'`stream{n}_{way}`' for way in stream.ports)}, "
        f"{stream.width} bits, clock `{f'stream{n}_aclk' if stream.clock == 'own' else 'sys_clk'}`, RAM of "
        f"{size_text(stream.wanted.words(config.data_width)*config.data_width // 8)} for each direction."
        for n, stream in enumerate(config.streams)]
    return "\n".join(["", *lines, ""])


def axi_stream_section(config):
    own  = stream_clock(config) == "own"
    bits = sorted({stream.width for stream in config.streams})
    return "## Streams" + stream_list(config) + f"""
`streamN_source` is an AXI4-Stream master with the data from the host, and `streamN_sink` a slave for data to the host,
with `tdata` of {' or '.join(map(str, bits))} bits. {own_clock(stream_clock(config), "streamN")}

- Bytes fill a beat from lane 0 without a gap. Only the last beat of a packet may be partial, and no beat may have
  `tkeep` of 0. There are no position bytes, and `tkeep` of `sink` matters only with `tlast`.
- A packet from the host ends where its descriptor has LAST. A packet to the host ends a buffer of the host.
- The sink accepts some beats before the host provides buffers, but none while its engine is off.
- A packet that a reset of the engine cuts has no `tlast`.""" + """
- `streamN_aresetn` and `sys_rst` each reset both sides of the clock crossing, and bytes in it are lost. After
  `streamN_aresetn`, the next beat of `sink` begins a packet. The report of its buffer says that the packet before was
  cut (`REPORT_CUT`). Let the host reset both engines afterwards.""" * own


def user_section(config):
    user = config.user_bus
    if user.face == "none":
        return ""
    return f"""\
## Your registers
`user` is an AXI4-Lite master. An access of the host to BAR0 at 0x{abi.USER_OFFSET:x} + n reaches
address 0x{user.origin:08x} + n, for n below 0x{user.size:x}. {own_clock(user.clock, "user")}

- One transaction at a time, of one dword: a longer access of the host is divided. A write has the host's byte enables
  in `wstrb`, and a write without any reaches nobody. A read is always of four bytes.
- An access that gets SLVERR or DECERR, takes longer than {user.timeout_us} us, meets a reset of these ports, or is
  beyond the size, fails: a read ends as Completer Abort, a write is dropped, and both are counted (`USER_ERRORS`).
- A transaction whose access failed by time goes on until your slave answers, and every access fails meanwhile.
- Connect an AXI interconnect or a slave directly. Tie `user_awready`, `user_wready`, `user_arready`, `user_bvalid` and
  `user_rvalid` low if there is none."""


def host_buffer_section(config):
    host = config.host_buffers
    if not host.count:
        return ""
    text = f"""\
## Buffers in host memory
`host` is an AXI4 slave of {config.data_width} bits through which your logic reads and writes
{plural(host.count, "buffer")} in host memory, of at most {size_text(host.size)}, that programs give it. The byte
address is the number of the buffer times 0x{host.size:x}, plus an offset. {own_clock("sys", "host")}

- Bursts of every type, length and size; those of full beats of type INCR reach the speed of the link. Several can be
  outstanding. Each direction answers its bursts in their order, whatever their IDs.
- A burst outside of a buffer, against the direction that the program allows, that AXI4 does not have, or that the host
  does not answer, gets SLVERR in all its beats. The card counts these (`HOST_ERRORS`).
- `host_bvalid` comes when the PHY has accepted the bytes. What the core sends afterwards does not overtake them."""
    if host.descriptors:
        text += """
- `descriptor` takes transfers between a buffer and the endpoint memory, which the core executes at the speed of the
  link; `end` gives their ends. The core takes no descriptor while 16 ends wait. The contract is in
  `docs/contracts/user-bus.md`, "Descriptors of the logic"."""
    return text


def phy_section():
    return """\
## What to connect
- **LitePCIe's PHYs** (`phy.block: 7-series-bma`, `ultrascale` or `ultrascale+`): `tx` to `sink`,
  `rx` from `source` (split: `req_` and `cmp_` likewise), `msi` to `msi`, `id` and sizes by name. They leave `first`
  at 0: set it in the beat after a `last`. In a LiteX design use `LitePCIeSoC` instead of a core. It does all
  this, and it works around the faults that `gateware/phy/hard_block.py` names.
- **Xilinx 7-series block**, 64 bit: `s_axis_tx` from `tx`, `m_axis_rx` to `rx`: `tdata` is `dat`, `tkeep` is `be`,
  `tlast` is `last`; `first` is the beat after a `tlast`. At 128 bit the block starts TLPs in the middle of a
  beat: realign them. `cfg_interrupt`, `_di`, `_rdy` are `msi_valid`, `_dat`, `_ready`; MPS is 128 <<
  `cfg_dcommand[7:5]`, MRRS 128 << `[14:12]`, Extended Tag `[8]`, Bus Master `cfg_command[2]`. With its option
  Buf_Opt_BMA the block holds twice as many completions: then set `phy.block: 7-series-bma`.
  UltraScale's blocks have descriptors for headers: adapt them as LitePCIe does.
- **A PHY of your own, a test bench**: whole TLPs as above. Assert `tx_ready` only if there are credits for the TLP.
  Return a credit when the core accepted a TLP."""


def host_section(config):
    pcie   = config.pcie
    ids    = f"{pcie.vendor_id:04x} {pcie.device_id:04x}"
    window = size_text(min(config.memory.size, abi.WINDOW_MAX))
    known  = {name: getattr(pcie, name) for name in PCI_ID} == PCI_ID
    bind   = "" if known else (f", then `echo {ids} > /sys/bus/pci/drivers/litepcie/new_id`, "
        "because the driver does not know this identity")
    test   = "dma_test" if config.channels else "stream loopback"
    return f"""\
## The host
BAR0: {size_text(abi.BAR0_SIZE)}, 32 bit, not prefetchable. Registers are below 0x{abi.WINDOW_OFFSET:x}, and above is
the window onto the first {window} of the endpoint memory. MSI: one vector. Identity: vendor 0x{pcie.vendor_id:04x},
device 0x{pcie.device_id:04x}, subsystem 0x{pcie.subsystem_vendor_id:04x}:0x{pcie.subsystem_device_id:04x},
class 0x{pcie.class_code:06x}. Driver: `make -C software/kernel`, `insmod build/kernel/litepcie.ko`{bind}.
`litepcie_util info` shows the name of this core, `litepcie_util {test}` moves data, and `/dev/litepcie0` is the
endpoint memory.
"""


def sheet(config, ports):
    """Returns the sheet as Markdown for a checked configuration and the ports of its Verilog."""
    sections = [summary(config), ports_section(ports), rules_section(config), tlp_section(config),
        memory_section(config), stream_section(config), user_section(config), host_buffer_section(config),
        phy_section(), host_section(config)]
    return flow("\n\n".join(section for section in sections if section))
