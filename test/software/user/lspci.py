# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Compares `litepcie_util config` and `bus` with Debian's lspci, which decodes the same bytes."""

import random
import re
import subprocess

from litepcie_sim.guest           import packages
from litepcie_sim.guest.initramfs import LSPCI


def names():
    """The path of Debian's pci.ids."""
    return packages.root(LSPCI) / "usr/share/misc/pci.ids"


def dump(devices):
    """`{address: bytes}` as `lspci -xxxx` prints them."""
    return "".join(f"{address} x\n" + "".join(f"{at:02x}: {data[at:at + 16].hex(' ')}\n"
        for at in range(0, len(data), 16)) + "\n" for address, data in devices.items())


def lspci(tmp_path, devices, *arguments):
    root, program = packages.find(LSPCI)
    file = tmp_path / "dump"
    file.write_text(dump(devices))
    return subprocess.run([root / "usr/lib64/ld-linux-x86-64.so.2", "--library-path", root / "usr/lib/x86_64-linux-gnu",
        program, "-F", file, "-i", names(), "-D", *arguments], check=True, capture_output=True, text=True).stdout


def made_space(seed):
    """A configuration space with all capabilities that both programs decode, and random values in them."""
    rng, data = random.Random(seed), bytearray(4096)

    def put(at, value, size):
        data[at:at + size] = (value & ((1 << 8*size) - 1)).to_bytes(size, "little")

    data[0:0x40] = rng.randbytes(0x40)
    for at, value, size in [(0, 0x702410ee, 4), (6, rng.getrandbits(16) | 0x10, 2), (0x0a, 0x0580, 2), (0x0e, 0, 2),
            (0x10, 0xfe000000, 4), (0x14, 0x8000000c, 4), (0x18, 1, 4), (0x1c, 0xe001, 4), (0x20, 0, 8),
            (0x34, 0x40, 1), (0x3d, rng.randrange(5), 1)]:
        put(at, value, size)
    at, chain = 0x40, [(1, 8), (5, 24), (0x11, 12), (0x10, 0x3c)]
    for id_, size in chain:
        data[at:at + size] = rng.randbytes(size)
        put(at, id_ | (at + size if id_ != 0x10 else 0) << 8, 2)
        if id_ == 0x10:
            put(at + 2, 2 | rng.getrandbits(5) << 9, 2)
        at += size
    at, last = 0x100, 0x1f
    for id_, version, size in [(1, 2, 0x2c), (3, 1, 12), (0xb, 1, 16), (0xd, 1, 8), (0xe, 1, 8), (0x18, 1, 8),
            (0x19, 1, 0x20), (0x1e, 1, 16), (2, 1, 0x28), (0x10, 1, 0x40), (0x15, 1, 0x14), (0x1d, 1, 0x20),
            (last, 1, 12)]:
        data[at:at + size] = rng.randbytes(size)
        if id_ == 2:
            data[at + 4] &= ~6  # one or two channels
        if id_ == 0x15:
            data[at + 8] = data[at + 8] & 0x1f | 2 << 5  # two BARs
            data[at + 9] &= 0x1f
        put(at, id_ | version << 16 | (at + size if id_ != last else 0) << 20, 4)
        at += size
    return bytes(data)


# (block, register, label of lspci, its flags in the order of the register's flags, {field: pattern of its value});
# "." is no flag. What one of them calls unknown is not compared.
ERRORS = "DLP SDES TLP FCP CmpltTO CmpltAbrt UnxCmplt RxOF MalfTLP ECRC UnsupReq ACSViol UncorrIntErr BlockedTLP " \
    "AtomicOpBlocked TLPBlockedErr PoisonTLPBlocked DMWrReqBlocked IDECheck MisIDETLP PCRC_CHECK TLPXlatBlocked"
REPLAYS = "RxErr BadTLP BadDLLP Rollover Timeout AdvNonFatalErr CorrIntErr HeaderOF"
ACS     = "SrcValid TransBlk ReqRedir CmpltRedir UpstreamFwd EgressCtrl DirectTrans"
SIZE, RATE = r"(\d+ bytes)", r"([\d.]+ ?GT/s)"
REGISTERS = [
    ("type 0", "Command", "Control",
        "I/O Mem BusMaster SpecCycle MemWINV VGASnoop ParErr Stepping SERR FastB2B DisINTx", {}),
    ("type 0", "Status", "Status", ". INTx Cap 66MHz FastB2B ParErr >TAbort <TAbort <MAbort >SERR <PERR",
        {"DEVSEL timing": r"DEVSEL=(fast|medium|slow)"}),
    ("Power Management", "Power Management Capabilities", "Flags", "PMEClk . DSI D1 D2",
        {"aux current": r"AuxCurrent=(\d+mA)"}),
    ("Power Management", "Power Management Control/Status", "Status", "NoSoftRst PME-Enable PME",
        {"power state": r"^ *(D\d)", "data select": r"DSel=(\d+)", "data scale": r"DScale=(\d+)"}),
    ("Power Management", "Power Management Capabilities", "", "", {"version": r"version (\d+)"}),
    ("PCI Express", "Device Capabilities", "DevCap", "ExtTag AttnBtn AttnInd PwrInd RBE FLReset TEE-IO",
        {"max payload supported": rf"MaxPayload {SIZE}", "phantom functions": r"PhantFunc (\d)",
        "L0s acceptable latency": r"L0s (?:<|unlim)?(\d+[nu]s)", "L1 acceptable latency": r"L1 <(\d+[nu]s)"}),
    ("PCI Express", "Device Control", "DevCtl",
        "CorrErr NonFatalErr FatalErr UnsupReq RlxdOrd ExtTag PhantFunc AuxPwr NoSnoop .",
        {"max payload": rf"MaxPayload {SIZE}", "max read request": rf"MaxReadReq {SIZE}"}),
    ("PCI Express", "Device Status", "DevSta", "CorrErr NonFatalErr FatalErr UnsupReq AuxPwr TransPend", {}),
    ("PCI Express", "Link Capabilities", "LnkCap", "ClockPM Surprise LLActRep BwNot ASPMOptComp",
        {"max speed": rf"Speed {RATE}", "max width": r"Width x(\d+)", "port": r"Port #(\d+)"}),
    ("PCI Express", "Link Control", "LnkCtl", "LnkDisable . CommClk ExtSynch ClockPM AutWidDis BWInt AutBWInt",
        {"read completion boundary": rf"RCB {SIZE}"}),
    ("PCI Express", "Link Status", "LnkSta", "TrErr Train SlotClk DLActive BWMgmt ABWMgmt", {"speed": rf"Speed {RATE}",
        "width": r"Width x(\d+)"}),
    ("PCI Express", "Device Capabilities 2", "DevCap2",
        "TimeoutDis . . 32bit 64bit 128bitCAS NROPrPrP LTR 10BitTagComp "
        "10BitTagReq ExtFmt EETLPPrefix EmergencyPowerReductionInit FRS", {}),
    ("PCI Express", "Device Control 2", "DevCtl2",
        "TimeoutDis . ReqEn . IDOReq IDOCompl LTR EmergencyPowerReductionReq 10BitTagReq EETLPPrefixBlk", {}),
    ("PCI Express", "Link Capabilities 2", "LnkCap2", ". . . . . . Crosslink Retimer 2Retimers DRS", {}),
    ("PCI Express", "Link Control 2", "LnkCtl2", "EnterCompliance SpeedDis EnterModifiedCompliance ComplianceSOS",
        {"target speed": rf"Speed: {RATE}"}),
    ("PCI Express", "Link Status 2", "LnkSta2",
        "EqualizationComplete EqualizationPhase1 EqualizationPhase2 EqualizationPhase3 LinkEqualizationRequest "
        "Retimer 2Retimers .", {"de-emphasis": r"Level: ([-\d.]+dB)"}),
    ("PCI Express", "PCI Express Capabilities", "", "", {"version": r"\(v(\d)\)",
        "type": r"\(v\d\) (Endpoint|Root Port)", "interrupt message number": r"IntMsgNum (\d+)"}),
    ("MSI ", "Message Control", "", "Enable 64bit Maskable . .", {"vectors enabled": r"Count=(\d+)/",
        "vectors possible": r"Count=\d+/(\d+)"}),
    ("MSI-X", "Message Control", "", "Masked Enable", {"vectors": r"Count=(\d+)"}),
    ("MSI-X", "Table", "Vector table", "", {"BAR": r"BAR=(\d)", "offset": r"offset=(\w+)"}),
    ("MSI-X", "Pending Bit Array", "PBA", "", {"BAR": r"BAR=(\d)", "offset": r"offset=(\w+)"}),
    ("Advanced Error", "Uncorrectable Error Status", "UESta", ERRORS, {}),
    ("Advanced Error", "Uncorrectable Error Mask", "UEMsk", ERRORS, {}),
    ("Advanced Error", "Uncorrectable Error Severity", "UESvrt", ERRORS, {}),
    ("Advanced Error", "Correctable Error Status", "CESta", REPLAYS, {}),
    ("Advanced Error", "Correctable Error Mask", "CEMsk", REPLAYS, {}),
    ("Advanced Error", "Capabilities and Control", "AERCap",
        "ECRCGenCap ECRCGenEn ECRCChkCap ECRCChkEn MultHdrRecCap MultHdrRecEn TLPPfxPres HdrLogCap",
        {"first error": r"Pointer: (\w+)"}),
    ("Access Control", "ACS Capability", "ACSCap", ACS, {}),
    ("Access Control", "ACS Control", "ACSCtl", ACS, {}),
    ("Alternative", "ARI Capability", "ARICap", "MFVC ACS", {"next function": r"Function: (\d+)"}),
    ("Alternative", "ARI Control", "ARICtl", "MFVC ACS", {"group": r"Group: (\d+)"}),
    ("Secondary", "Link Control 3", "LnkCtl3", "PerformEqu LnkEquIntrruptEn", {}),
    ("L1 PM", "L1 Substates Capabilities", "L1SubCap", "PCI-PM_L1.2 PCI-PM_L1.1 ASPM_L1.2 ASPM_L1.1 L1_PM_Substates",
        {}),
    ("L1 PM", "L1 Substates Control 1", "L1SubCtl1", "PCI-PM_L1.2 PCI-PM_L1.1 ASPM_L1.2 ASPM_L1.1", {}),
    ("Virtual", "Port VC Capability 2", "Arb", "Fixed WRR32 WRR64 WRR128", {}),
    ("Virtual", "Port VC Status", "Status", "InProgress", {}),
    ("Virtual", "VC 0 Capability", "VC0", "Fixed WRR32 WRR64 WRR128 TWRR128 WRR256 RejSnoopTrans",
        {"time slots": r"MaxTimeSlots=(\d+)", "arbitration table offset, 16 bytes": r"PATOffset=(\w+)"}),
    ("Virtual", "VC 0 Control", "VC0", ". Enable", {"channel": r"ID=(\d)", "traffic classes": r"TC/VC=(\w+)"}),
    ("Virtual", "VC 0 Status", "VC0", "InProgress NegoPending", {}),
    ("Virtual", "VC 1 Capability", "VC1", "Fixed WRR32 WRR64 WRR128 TWRR128 WRR256 RejSnoopTrans", {}),
    ("Virtual", "VC 1 Status", "VC1", "InProgress NegoPending", {}),
    ("Virtual", "Port VC Capability 1", "Caps", "", {"low priority channels": r"LPEVC=(\d)",
        "reference clock": r"RefClk=(\w+)", "port arbitration entry, bits": r"PATEntryBits=(\d)"}),
    ("Virtual", "VC 1 Control", "VC1", "", {"traffic classes": r"TC/VC=(\w+)"}),
    ("Single Root", "SR-IOV Capabilities", "IOVCap", "Migration . 10BitTagReq",
        {"interrupt message number": r"IntMsgNum (\d+)"}),
    ("Single Root", "SR-IOV Control", "IOVCtl", "Enable Migration Interrupt MSE ARIHierarchy 10BitTagReq", {}),
    ("Single Root", "SR-IOV Status", "IOVSta", "Migration", {}),
    *(("Single Root", f"{name} VFs", "", "", {"value": rf"{name} VFs: (\d+)"})
        for name in ("Initial", "Total", "Number of")),
    ("Single Root", "Function Dependency Link", "", "", {"function": r"Function Dependency Link: (\w+)"}),
    ("Single Root", "First VF Offset", "", "", {"value": r"VF offset: (\d+)"}),
    ("Single Root", "VF Stride", "", "", {"value": r"stride: (\d+)"}),
    ("Single Root", "VF Device ID", "", "", {"ID": r"Device ID: (\w+)"}),
    ("Single Root", "Supported Page Sizes", "", "", {"sizes, 4 KiB and up": r"Supported Page Size: (\w+)"}),
    ("Single Root", "System Page Size", "", "", {"sizes, 4 KiB and up": r"System Page Size: (\w+)"}),
    ("Single Root", "VF Migration State Array", "VF Migration", "", {"BAR": r"BIR: (\d)", "offset": r"offset: (\w+)"}),
    ("Downstream", "DPC Capability", "DpcCap", "RPExt PoisonedTLP SwTrigger DL_ActiveErr",
        {"interrupt message number": r"IntMsgNum (\d+)", "root port PIO log dwords": r"RP PIO Log (\d+)"}),
    ("Downstream", "DPC Control", "DpcCtl", "Cmpl INT ErrCor PoisonedTLP SwTrigger DL_ActiveErr", {}),
    ("Downstream", "DPC Status", "DpcSta", "Trigger INT RPBusy", {"root port PIO first error": r"RP PIO ErrPtr:(\w+)"}),
    ("Precision", "PTM Capability", "PTMCap", "Requester Responder Root", {}),
    ("Precision", "PTM Control", "PTMControl", "Enabled RootSelected", {}),
    ("Precision", "PTM Capability", "PTMClockGranularity", "", {"granularity, ns": r"(\d+)ns"}),
    ("Vendor Specific extended", "Vendor Specific Header", "", "", {"ID": r"ID=(\w+)", "revision": r"Rev=(\d+)"}),
    ("Resizable", "BAR 0 Control", "", "", {"BAR": r"^.*\n\t\tBAR (\d):",
        "size": r"^.*\n\t\tBAR \d: current size: (\w+)"}),
    ("Resizable", "BAR 1 Control", "", "", {"BAR": r"BAR \d: .*\n\t\tBAR (\d):",
        "size": r"BAR \d: .*\n\t\tBAR \d: current size: (\w+)"}),
]


def sections(text):
    """{"040": text of the capability there}; "" is the header."""
    parts = re.split(r"\tCapabilities: \[(\w+)[^]]*\] ", text)
    return {"": parts[0], **{f"{int(at, 16):03x}": body for at, body in zip(parts[1::2], parts[2::2])}}


def labelled(section, label):
    """The text after `label`, with the lines that continue it."""
    if not label:
        return section
    found = re.search(rf"^\t+{re.escape(label)}:(.*(?:\n\t\t[\t ].*)*)", section, re.M)
    return found[1] if found else ""


def simple(text):
    """A value without its spelling: 0x0a and 0A are one, so are 2.5 GT/s and 2.5GT/s, 1 MiB and 1MB."""
    text = text.replace(" ", "").lower().replace("ib", "b")
    return text.removeprefix("0x").lstrip("0") or "0"


def compare(blocks, text):
    """Asserts that each field in `blocks` (JSON of `config`) is that of lspci; returns how many were compared."""
    shown, compared = sections(text), 0
    for block in blocks:
        at      = f"{block['offset_bytes']:03x}" if block["offset_bytes"] else ""
        section = shown[at]
        for name, register, label, flags, patterns in REGISTERS:
            for one in (r for r in block["registers"] if block["name"].startswith(name) and r["name"] == register):
                own  = [f for f in one["fields"] if f["meaning"] in ("yes", "no") and ":" not in f["bits"]]
                line = labelled(section, label)
                for field, flag in zip(own, flags.split()):
                    found = re.search(rf"(?<![\w/-]){re.escape(flag)}([+-])(?!\w)", line)
                    if flag == "." or not found:
                        continue
                    assert (field["meaning"] == "yes") == (found[1] == "+"), (block["name"], register, field, line)
                    compared += 1
                for field, pattern in patterns.items():
                    ours  = next(f["meaning"] for f in one["fields"] if f["name"] == field)
                    found = re.search(pattern, line)
                    if found and ours not in ("reserved", "?"):
                        assert simple(ours) == simple(found[1]), (block["name"], register, field, found[0], ours)
                        compared += 1
    # Each capability that lspci finds is one of ours, at the same place.
    assert set(shown) == {f"{block['offset_bytes']:03x}" if block["offset_bytes"] else "" for block in blocks}
    return compared
