#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The integration sheet of a core: what to connect, and the rules of each port."""

import textwrap

from litepcie_soc.build.generated import table
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.standalone.example import BAR0, COMPLETER, REQUESTER, beats, example_answer, example_read
from litepcie_soc.standalone.ports import GROUPS, group_of, meaning
from litepcie_soc.standalone.values import Flag, Size, size_text
from litepcie_soc.soc.soc import PCI_ID

# Helpers ------------------------------------------------------------------------------------------

COLUMNS = 120


def default_text(name, kind):
    """A key's default as a user would write it."""
    value = kind.default
    if value is None:
        return "(link)"
    if isinstance(kind, Flag):
        return str(value).lower()
    if isinstance(kind, Size):
        return size_text(value)
    return kind.text(value) if hasattr(kind, "text") else str(value)


def flow(text):
    """Prose as paragraphs and items of lines of up to COLUMNS; tables and titles as they are."""
    lines = []
    for line in text.split("\n"):
        goes_on = line.startswith("  ") or line[:1].isalnum() and lines and lines[-1][:1].isalnum()
        if goes_on:
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
    """A TLP as its beats: a row for each, highest dword of `dat` first."""
    rows = []
    for beat in beats(tlp, data_width):
        dat, be = f"`0x{beat.dat:0{data_width // 4}x}`", f"`0x{beat.be:0{data_width // 32}x}`"
        rows.append((str(len(rows)), str(beat.first), str(beat.last), dat, be))
    return table((f"`{prefix}` beat", "first", "last", "dat", "be"), rows)

# Sections -----------------------------------------------------------------------------------------


def summary(config):
    pcie = config.pcie
    path = data_path_rate(config.data_width, config.clk_freq) / 1e6
    link = link_rate(pcie.gen, pcie.lanes) / 1e6
    kind = {"bram": "block RAM", "external": "behind the memory ports"}[config.memory.kind]
    return f"""\
# {config.name}: integration sheet

LitePCIe SoC core, register map {abi.VERSION_MAJOR}.{abi.VERSION_MINOR}, for PCI Express Gen{pcie.gen} x{pcie.lanes}:
{config.data_width} bit at {config.clk_freq / 1e6:g} MHz ({path:.0f} MB/s; the link has {link:.0f} MB/s each way).
{plural(config.channels, "DMA channel")}, {plural(config.streams, "stream")}, {config.tags} tags,
{size_text(config.memory.size)} of endpoint memory ({kind}).

| file | what |
| --- | --- |
| `{config.name}.v` | the core, module `{config.name}`, Verilog 2001, no other module needed |
| `litepcie_regs.h` | pinned register map, descriptor, status block: what a driver needs |
| `csr.h`, `csr.json` | every register, LiteX's own included |
| `soc.h` | what the core was made with, `CONFIG_*` |"""


def plural(number, what):
    return f"{number or 'no'} {what}" + "s" * (number != 1)


def ports_section(ports):
    return "## Ports\n" + port_table(ports)


def rules_section(config):
    split  = config.phy.shape == "split"
    rx, tx = ("`rx_req` and `rx_cmp`", "`tx_req` and `tx_cmp`") if split else ("`rx`", "`tx`")
    return f"""\
## Clock, reset, handshake
- Every port belongs to `sys_clk`. It must run at {config.clk_freq / 1e6:g} MHz: the core counts time with it (timeouts,
  interrupt moderation). Use the PHY's user clock, or cross to `sys_clk` in the PHY.
- Hold `sys_rst` for a cycle or more with the clock running, whenever the PHY is in reset.
- A beat moves at a clock edge with valid and ready. Valid does not wait for ready; what is valid stays as it is until
  taken. Ready may come and go at will, with or without valid.
- While `phy_link_up` is low the core takes and throws away what comes on {rx}, and waits for nobody on {tx}. It may cut
  a TLP short there, as you may on {rx}; when the link is back, begin with a first beat. Reads that were outstanding
  fail after their timeout, or are forgotten with `sys_rst`."""


def tlp_section(config):
    payload = {
        "big":    "byte 0 of a payload dword is in its bits 31:24, the integer of the bytes on the wire",
        "little": "byte 0 of a payload dword is in its bits 7:0",
    }[config.phy.endianness]
    split  = config.phy.shape == "split"
    rx, tx = ("rx_req", "tx_cmp") if split else ("rx", "tx")
    order  = SPLIT_ORDER if split else "TLPs leave the PHY in the order in which they were taken."
    read, answer = example_read(), example_answer(config.phy.endianness)
    return f"""\
## TLPs
Raw TLPs without sequence number, LCRC or ECRC; each begins in dword 0 of a beat. Header dwords are integers (bits 31:24
of dword 0: format and type); payload follows without padding; {payload}.
Example: the host reads MAGIC (BAR0 at 0x{BAR0:08x}, requester 0x{REQUESTER:04x}, `phy_id` 0x{COMPLETER:04x}),
the core answers:

{beat_table(rx, read, config.data_width)}

{beat_table(tx, answer, config.data_width)}

- Present memory requests that hit BAR0{" (`rx_req`)" if split else ""} and completions{" (`rx_cmp`)" if split else ""}.
  Other non-posted requests are answered with Unsupported Request. Configuration and messages are the PHY's.
- Requests have 3 dwords of header below 4 GiB, 4 above; none crosses 4 KiB, `phy_max_payload_size` or
  `phy_max_request_size`. What is outstanding never needs more than {config.phy.completion_buffer_bytes} bytes of
  the PHY's completion buffer (64 bytes a completion, 16 more for its header), unless a single request does.
- Order: {order}
- MSI: `msi_valid` stays until `msi_ready`. An MSI taken at a clock edge stands behind every TLP taken before it: data
  and status are in host memory when the host sees it."""


SPLIT_ORDER = """the order between `tx_req` and `tx_cmp` is that of last beats; a completion must not pass a posted
  write that was taken before it. Likewise a completion on `rx_cmp` may not pass a posted write on `rx_req`."""


def memory_section(config):
    memory = config.memory
    what   = f"{size_text(memory.size)} in words of {config.data_width} bit"
    if memory.kind == "external":
        return f"""\
## Memory
The core is the client: {what}. Answer every read command once, in order, at any time; there is always room for the
answer. A read command taken in a later cycle than a write must see it. Each client in the core asks for up to
{memory.read_ahead} words ahead: a word a cycle, up to that latency in cycles. A DMA read is complete when its
last write was taken."""
    if memory.user_ports:
        return f"""\
## Memory
You are a client of the core's memory beside the DMA, sharing its write and its read side round robin: {what}.
Answers come in the order of the read commands and wait for `memory_read_data_ready`.
A read command taken in a later cycle than a
write sees it. Tie the valid inputs and `memory_read_data_ready` low if not used."""
    return ""


def stream_section(config):
    if not config.streams:
        return ""
    return """\
## Streams
Bytes fill a beat from lane 0 without a gap; only the last beat of a packet may be partial, none is empty. `source`
gives what the host wrote, a packet ending where its descriptor says LAST; `sink` takes packets,
each ending a buffer of the
host. A sink takes some beats ahead of the host's buffers, none while its engine is off."""


def phy_section():
    return """\
## What to connect
- **LitePCIe's PHYs** (7-series: `shape: shared`, `big`; UltraScale, UltraScale+: `split`, `little`): `tx` to `sink`,
  `rx` from `source` (split: `req_` and `cmp_` likewise), `msi` to `msi`, `id` and sizes by name. They leave `first`
  at 0: it is the beat behind a `last`. In a LiteX design `LitePCIeSoC` does all of it without a core, and mends
  what `gateware/phy/hard_block.py` names.
- **Xilinx 7-series block**, 64 bit: `s_axis_tx` from `tx`, `m_axis_rx` to `rx`: `tdata` is `dat`, `tkeep` is `be`,
  `tlast` is `last`; `first` is the beat behind a `tlast`. At 128 bit it begins TLPs in mid-beat: realign them.
  `cfg_interrupt`, `_di`, `_rdy` are `msi_valid`, `_dat`, `_ready`; MPS is 128 << `cfg_dcommand[7:5]`, MRRS 128 <<
  `[14:12]`, Extended Tag `[8]`, Bus Master `cfg_command[2]`.
  UltraScale's blocks have descriptors for headers: adapt them as LitePCIe does.
- **A PHY of your own, a test bench**: whole TLPs as above. Give `tx_ready` only with credits for the TLP; return a
  credit when the core took the TLP."""


def host_section(config):
    pcie   = config.pcie
    ids    = f"{pcie.vendor_id:04x} {pcie.device_id:04x}"
    window = size_text(min(config.memory.size, abi.WINDOW_MAX))
    known  = {name: getattr(pcie, name) for name in PCI_ID} == PCI_ID
    bind   = "" if known else f", then `echo {ids} > /sys/bus/pci/drivers/litepcie/new_id`: the driver does not know it"
    return f"""\
## The host
BAR0: {size_text(abi.BAR0_SIZE)}, 32 bit, not prefetchable; registers below 0x{abi.WINDOW_OFFSET:x}, above it the
window onto the first {window} of the endpoint memory. MSI: one vector. Identity: vendor 0x{pcie.vendor_id:04x},
device 0x{pcie.device_id:04x}, subsystem 0x{pcie.subsystem_vendor_id:04x}:0x{pcie.subsystem_device_id:04x},
class 0x{pcie.class_code:06x}. Driver: `make -C software/kernel`, `insmod build/kernel/litepcie.ko`{bind}.
`litepcie_util info` names this core, `litepcie_util dma_test` moves data, `/dev/litepcie0` is the endpoint memory.
"""

# Sheet --------------------------------------------------------------------------------------------


def sheet(config, ports):
    """Markdown text for a checked configuration and the ports of its Verilog."""
    sections = [summary(config), ports_section(ports), rules_section(config), tlp_section(config),
        memory_section(config), stream_section(config), phy_section(), host_section(config)]
    return flow("\n\n".join(section for section in sections if section))
