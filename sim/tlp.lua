-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 LitePCIe SoC developers
--
-- Shows the TLPs of a file of the simulator's --pcap in Wireshark and tshark:
--
--     wireshark -X lua_script:tlp.lua tlps.pcapng
--
-- A packet is one TLP (PCIe 4.0 2.2): header, payload and digest, without sequence number and LCRC. In a packet's
-- flags, "outbound" is to the card and "inbound" is from it. The filters begin with "tlp.", as in tlp.status != 0.

local tlp = Proto("tlp", "PCI Express TLP")

local COMPLETION, MESSAGE = 0x0a, 0x10
local TYPES = {[0x00] = "MRd", [0x01] = "MRdLk", [0x02] = "IO", [0x04] = "Cfg0", [0x05] = "Cfg1", [0x0a] = "Cpl",
    [0x0b] = "CplLk", [0x0c] = "FetchAdd", [0x0d] = "Swap", [0x0e] = "CAS"}
local STATUSES = {[0] = "Successful Completion", [1] = "Unsupported Request", [2] = "Configuration Request Retry",
    [4] = "Completer Abort"}
local CODES = {[0x14] = "PM_Active_State_Nak", [0x18] = "PM_PME", [0x19] = "PME_Turn_Off", [0x1b] = "PME_TO_Ack",
    [0x20] = "Assert_INTA", [0x21] = "Assert_INTB", [0x22] = "Assert_INTC", [0x23] = "Assert_INTD",
    [0x24] = "Deassert_INTA", [0x25] = "Deassert_INTB", [0x26] = "Deassert_INTC", [0x27] = "Deassert_INTD",
    [0x30] = "ERR_COR", [0x31] = "ERR_NONFATAL", [0x33] = "ERR_FATAL", [0x50] = "Set_Slot_Power_Limit"}

local field = {
    name      = ProtoField.string("tlp.name", "Name"),
    fmt       = ProtoField.uint8("tlp.fmt", "Format", base.HEX, nil, 0xe0),
    type      = ProtoField.uint8("tlp.type", "Type", base.HEX, nil, 0x1f),
    class     = ProtoField.uint8("tlp.tc", "Traffic class", base.DEC, nil, 0x70),
    digest    = ProtoField.bool("tlp.td", "Digest", 8, nil, 0x80),
    poisoned  = ProtoField.bool("tlp.ep", "Poisoned", 8, nil, 0x40),
    relaxed   = ProtoField.bool("tlp.ro", "Relaxed ordering", 8, nil, 0x20),
    no_snoop  = ProtoField.bool("tlp.ns", "No snoop", 8, nil, 0x10),
    length    = ProtoField.uint32("tlp.length", "Length in dwords"),
    requester = ProtoField.string("tlp.requester", "Requester"),
    completer = ProtoField.string("tlp.completer", "Completer"),
    tag       = ProtoField.uint8("tlp.tag", "Tag"),
    last_be   = ProtoField.uint8("tlp.last_be", "Last byte enables", base.HEX, nil, 0xf0),
    first_be  = ProtoField.uint8("tlp.first_be", "First byte enables", base.HEX, nil, 0x0f),
    address   = ProtoField.uint64("tlp.address", "Address", base.HEX),
    device    = ProtoField.string("tlp.device", "Device"),
    register  = ProtoField.uint16("tlp.register", "Register", base.HEX, nil, 0x0ffc),
    code      = ProtoField.uint8("tlp.code", "Message code", base.HEX, CODES),
    status    = ProtoField.uint8("tlp.status", "Status", base.DEC, STATUSES, 0xe0),
    count     = ProtoField.uint16("tlp.byte_count", "Byte count (0 stands for 4096)", base.DEC, nil, 0x0fff),
    lower     = ProtoField.uint8("tlp.lower_address", "Lower address", base.HEX, nil, 0x7f),
    payload   = ProtoField.bytes("tlp.payload", "Payload"),
}
local all = {}
for _, each in pairs(field) do
    all[#all + 1] = each
end
tlp.fields = all

local short = ProtoExpert.new("tlp.short", "TLP has another size than its header says", expert.group.MALFORMED,
    expert.severity.ERROR)
tlp.experts = {short}

local function function_of(range)
    return string.format("%02x:%02x.%x", range:bitfield(0, 8), range:bitfield(8, 5), range:bitfield(13, 3))
end

local function name_of(fmt, kind)
    local data, wide = fmt == 2 or fmt == 3, fmt == 1 or fmt == 3
    if fmt > 3 then
        return "Prefix"
    elseif kind == 0 then
        return (data and "MWr" or "MRd") .. (wide and "64" or "32")
    elseif kind >= MESSAGE and kind < MESSAGE + 8 then
        return data and "MsgD" or "Msg"
    elseif kind == COMPLETION or kind == COMPLETION + 1 then
        return TYPES[kind] .. (data and "D" or "")
    elseif kind == 2 or kind == 4 or kind == 5 then
        return TYPES[kind]:gsub("%d", "") .. (data and "Wr" or "Rd") .. (TYPES[kind]:match("%d") or "")
    end
    return TYPES[kind] or "Unknown"
end

function tlp.dissector(buffer, packet, root)
    packet.cols.protocol = "TLP"
    local tree = root:add(tlp, buffer())
    if buffer:len() < 12 then
        tree:add_proto_expert_info(short)
        packet.cols.info = "cut off in its header"
        return
    end
    local fmt, kind = buffer(0, 1):bitfield(0, 3), buffer(0, 1):bitfield(3, 5)
    local data   = fmt == 2 or fmt == 3
    local header = (fmt == 1 or fmt == 3) and 16 or 12
    local digest = buffer(2, 1):bitfield(0, 1) * 4
    local length = buffer(2, 2):bitfield(6, 10)
    length = length == 0 and 1024 or length
    local name = name_of(fmt, kind)
    local info = {name}
    local function say(format, ...)
        info[#info + 1] = string.format(format, ...)
    end

    tree:add(field.name, buffer(0, 1), name)
    tree:add(field.fmt, buffer(0, 1))
    tree:add(field.type, buffer(0, 1))
    tree:add(field.class, buffer(1, 1))
    for _, each in ipairs({"digest", "poisoned", "relaxed", "no_snoop"}) do
        tree:add(field[each], buffer(2, 1))
    end
    tree:add(field.length, buffer(2, 2), length)
    if buffer:len() ~= header + (data and 4 * length or 0) + digest then
        tree:add_proto_expert_info(short)
        say("(%d bytes)", buffer:len())
    end
    if buffer:len() < header then
        packet.cols.info = table.concat(info, " ")
        return
    end

    if kind == COMPLETION or kind == COMPLETION + 1 then
        local status = buffer(6, 1):bitfield(0, 3)
        tree:add(field.completer, buffer(4, 2), function_of(buffer(4, 2)))
        tree:add(field.status, buffer(6, 1))
        tree:add(field.count, buffer(6, 2))
        tree:add(field.requester, buffer(8, 2), function_of(buffer(8, 2)))
        tree:add(field.tag, buffer(10, 1))
        tree:add(field.lower, buffer(11, 1))
        say("from %s to %s tag %d %s, %d bytes to come", function_of(buffer(4, 2)), function_of(buffer(8, 2)),
            buffer(10, 1):uint(), STATUSES[status] or "reserved status", buffer(6, 2):bitfield(4, 12))
    else
        tree:add(field.requester, buffer(4, 2), function_of(buffer(4, 2)))
        tree:add(field.tag, buffer(6, 1))
        say("from %s tag %d", function_of(buffer(4, 2)), buffer(6, 1):uint())
        if kind >= MESSAGE and kind < MESSAGE + 8 then
            tree:add(field.code, buffer(7, 1))
            say("%s", CODES[buffer(7, 1):uint()] or string.format("code 0x%02x", buffer(7, 1):uint()))
        else
            tree:add(field.last_be, buffer(7, 1))
            tree:add(field.first_be, buffer(7, 1))
            if kind == 4 or kind == 5 then
                tree:add(field.device, buffer(8, 2), function_of(buffer(8, 2)))
                tree:add(field.register, buffer(10, 2))
                say("to %s register 0x%03x", function_of(buffer(8, 2)), buffer(10, 2):bitfield(4, 10) * 4)
            else
                -- The lowest two bits are not of the address.
                local at = buffer(8, header - 8)
                local value = header == 16 and at:uint64() or UInt64(at:uint())
                value = value - UInt64(buffer(header - 1, 1):bitfield(6, 2))
                tree:add(field.address, at, value)
                say("address 0x%s", (value:tohex():gsub("^0*(%x)", "%1")))
            end
        end
        say("length %d", length)
    end
    if buffer(2, 1):bitfield(1, 1) == 1 then
        say("poisoned")
    end
    if data and buffer:len() > header then
        tree:add(field.payload, buffer(header, math.min(4 * length, buffer:len() - header)))
    end
    packet.cols.info = table.concat(info, " ")
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, tlp)
