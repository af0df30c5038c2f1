// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace litepcie {

// Credit class of a TLP (PCIe 4.0 2.6.1).
enum class TlpClass { Posted = 0, NonPosted = 1, Completion = 2 };
constexpr unsigned kTlpClasses = 3;

// Completion status (PCIe 4.0 2.2.9).
enum class CplStatus : uint8_t { Success = 0, Unsupported = 1, Abort = 4 };

// One transaction layer packet (PCIe 4.0 2.2), in the form it has at the PHY boundary.
//
// `dw` holds the header dwords as integers (bits 31:24 of dword 0 are format and type), then the payload dwords, each
// the big-endian integer of its four bytes on the wire.
//
// This folder is a TLP in the hands of all others, and its trace.
class Tlp {
  public:
    std::vector<uint32_t> dw;
    static constexpr uint32_t kAnswered = 7u << 20 | 1u << 18 | 3u << 12;  // traffic class and attributes in dword 0

    // Builders of memory requests. `address` and `bytes` are in bytes and may be unaligned: the byte enables follow
    // from them. The header has three dwords for an address below 4 GiB and four above, as the specification demands.
    static Tlp memory_write(uint16_t requester, uint64_t address, const uint8_t *data, size_t bytes);
    static Tlp memory_read(uint16_t requester, uint8_t tag, uint64_t address, size_t bytes);
    static Tlp completion(uint16_t completer, uint16_t requester, uint8_t tag, CplStatus status, unsigned byte_count,
                          unsigned lower_address);
    // The payload is `dwords` dwords of `data`, whose bytes are in memory order.
    static Tlp completion_data(uint16_t completer, uint16_t requester, uint8_t tag, unsigned byte_count,
                               unsigned lower_address, const uint8_t *data, unsigned dwords);

    // A message without data (PCIe 2.1 2.2.8); `code` is one of these.
    enum Message : uint8_t { PmeTurnOff = 0x19, PmeToAck = 0x1b, SlotPowerLimit = 0x50 };
    enum Routing : uint8_t { ToRoot = 0, Broadcast = 3, Local = 4, Gathered = 5 };
    static Tlp message(uint16_t requester, Routing routing, Message code);
    // `limit`: the value in bits 7:0, its scale in bits 9:8 (6.9).
    static Tlp slot_power_limit(uint16_t requester, unsigned limit);

    unsigned fmt() const { return dw[0] >> 29; }
    unsigned type() const { return (dw[0] >> 24) & 0x1f; }
    bool has_data() const { return fmt() & 2; }
    unsigned header_dwords() const { return fmt() & 1 ? 4 : 3; }
    unsigned length() const { return (dw[0] & 0x3ff) ? (dw[0] & 0x3ff) : 1024; }  // dwords
    unsigned traffic_class() const { return (dw[0] >> 20) & 7; }
    bool digest() const { return dw[0] >> 15 & 1; }
    bool poisoned() const { return dw[0] >> 14 & 1; }
    bool relaxed_ordering() const { return dw[0] >> 13 & 1; }
    bool no_snoop() const { return dw[0] >> 12 & 1; }
    unsigned address_type() const { return (dw[0] >> 10) & 3; }
    void poison() { dw[0] |= 1u << 14; }
    // Gives a completion the attributes and the traffic class of its request (PCIe 4.0 2.2.9).
    void answer(const Tlp &request) { dw[0] |= request.dw[0] & kAnswered; }

    bool is_memory() const { return type() == 0 && fmt() < 4; }
    bool is_memory_write() const { return is_memory() && has_data(); }
    bool is_memory_read() const { return is_memory() && !has_data(); }
    bool is_completion() const { return type() == 0x0a; }
    bool is_message() const { return (type() & 0x18) == 0x10; }
    uint8_t message_code() const { return uint8_t(dw[1]); }
    TlpClass credit_class() const;
    unsigned data_credits() const { return has_data() ? (length() + 3) / 4 : 0; }  // one per 16 bytes

    // Fields of memory requests. `requester` and `tag` work for completions too.
    uint16_t requester() const { return is_completion() ? dw[2] >> 16 : dw[1] >> 16; }
    uint8_t tag() const { return is_completion() ? dw[2] >> 8 : dw[1] >> 8; }
    unsigned first_be() const { return dw[1] & 0xf; }
    unsigned last_be() const { return dw[1] >> 4 & 0xf; }
    uint64_t address() const;        // of the first dword
    uint64_t first_byte() const;     // address of the first enabled byte
    unsigned enabled_bytes() const;  // from the first to the last enabled byte; 1 if none is enabled

    // Fields of completions.
    uint16_t completer() const { return dw[1] >> 16; }
    unsigned status() const { return dw[1] >> 13 & 7; }
    unsigned byte_count() const { return (dw[1] & 0xfff) ? (dw[1] & 0xfff) : 4096; }
    unsigned lower_address() const { return dw[2] & 0x7f; }

    // The dwords of payload that the packet holds, whatever its length field says, and their bytes in memory order.
    unsigned payload_dwords() const { return dw.size() > header_dwords() ? dw.size() - header_dwords() : 0; }
    void payload_bytes(uint8_t *out) const;

    // Bytes that the TLP takes on the link: framing, sequence number, header, payload and LCRC.
    unsigned wire_bytes() const { return 8 + 4 * dw.size(); }
    // The same, of a TLP whose header has begun and says how long it is.
    unsigned announced_wire_bytes() const { return 8 + 4 * (header_dwords() + (has_data() ? length() : 0) + digest()); }

    const char *name() const;      // MRd32, MWr64, CplD ...
    std::string describe() const;  // the decoded fields in one line
    std::string hex() const;       // the dwords, separated by spaces
};

// Writes a text file with one line for each TLP: cycle, nanoseconds, direction (> to the card, < to the host), fields.
class Trace {
  public:
    // With an empty path it writes nothing. Throws std::runtime_error if the file cannot be written.
    Trace(const std::string &path, uint64_t clock_hz);
    bool on() const { return file_ != nullptr; }
    void tlp(uint64_t cycle, char direction, const Tlp &tlp);
    void event(uint64_t cycle, char direction, const std::string &text);

  private:
    struct Close {
        void operator()(FILE *file) const { fclose(file); }
    };
    std::unique_ptr<FILE, Close> file_;
    double ns_per_cycle_;
};

// Counts of TLPs in each direction, by name (MRd32, CplD ...).
struct TrafficCounts {
    struct Count {
        uint64_t tlps = 0, payload_bytes = 0, wire_bytes = 0;
    };
    std::map<std::string, Count> to_host, to_card;

    static void add(std::map<std::string, Count> &counts, const char *name, unsigned payload, unsigned wire) {
        Count &count = counts[name];
        count.tlps++;
        count.payload_bytes += payload;
        count.wire_bytes += wire;
    }
    static void add(std::map<std::string, Count> &counts, const Tlp &tlp) {
        add(counts, tlp.name(), 4 * tlp.payload_dwords(), tlp.wire_bytes());
    }
};

}  // namespace litepcie
