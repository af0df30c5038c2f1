// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "root/host_memory.h"
#include "tlp/tlp.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace litepcie {

// How many TLPs a test throws at a parser: LITEPCIE_FUZZ_TLPS, or `most`.
inline unsigned fuzz_tlps(unsigned most) {
    const char *text = getenv("LITEPCIE_FUZZ_TLPS");
    return text ? unsigned(strtoul(text, nullptr, 10)) : most;
}

// The first number of the random sequence: LITEPCIE_FUZZ_SEED, or 1.
inline uint64_t fuzz_seed() {
    const char *text = getenv("LITEPCIE_FUZZ_SEED");
    return text ? strtoull(text, nullptr, 10) : 1;
}

// TLPs as a card could send them, the same ones damaged, and dwords that are no TLP. The same seed gives the same TLPs.
class RandomTlps {
  public:
    static constexpr uint16_t kCard = 0x0100, kHost = 0;
    static constexpr uint64_t kMemory = 0x10000000, kHighMemory = 0x100000000, kMemoryBytes = 0x10000;

    explicit RandomTlps(uint64_t seed) : random_(seed) {}

    unsigned below(uint64_t end) { return unsigned(random_() % end); }
    bool one_in(unsigned n) { return below(n) == 0; }

    // A memory request of the card that breaks no rule of its format.
    Tlp request() {
        const unsigned bytes = 1 + below(one_in(8) ? 4096 : one_in(2) ? 256 : 16);
        uint64_t address = (one_in(2) ? kMemory : kHighMemory) + below(kMemoryBytes);
        if (address % 4096 + bytes > 4096)
            address -= address % 4096;
        if (one_in(2))
            return Tlp::memory_read(kCard, uint8_t(below(one_in(4) ? 256 : 32)), address, bytes);
        return Tlp::memory_write(kCard, address, bytes_of(bytes).data(), bytes);
    }
    // The whole answer to a read of up to 128 bytes.
    Tlp completion(const Tlp &read) {
        const unsigned lower = read.first_byte() & 0x7f;
        const unsigned dwords = ((lower & 3) + read.enabled_bytes() + 3) / 4;
        Tlp tlp = one_in(8) ? Tlp::completion(kCard, read.requester(), read.tag(), CplStatus::Unsupported,
                                              read.enabled_bytes(), lower)
                            : Tlp::completion_data(kCard, read.requester(), read.tag(), read.enabled_bytes(), lower,
                                                   bytes_of(4 * dwords).data(), dwords);
        tlp.answer(read);
        return tlp;
    }
    // Bits, fields or dwords of a TLP change, or it is cut or longer, or has a prefix (PCIe 4.0 2.2.10) or a digest.
    void damage(Tlp &tlp) {
        do
            switch (below(9)) {
            case 0: tlp.dw[below(std::min<size_t>(tlp.dw.size(), 4))] ^= 1u << below(32); break;
            case 1: tlp.dw[below(tlp.dw.size())] = edge(); break;
            case 2: tlp.dw[0] = (tlp.dw[0] & ~0x3ffu) | (edge() & 0x3ff); break;
            case 3: tlp.dw[0] = (tlp.dw[0] & 0x00ffffff) | uint32_t(below(256)) << 24; break;
            case 4: tlp.dw.resize(1 + below(tlp.dw.size())); break;
            case 5: tlp.dw.resize(tlp.dw.size() + 1 + below(one_in(16) ? 1100 : 5), edge()); break;
            case 6: tlp.dw.insert(tlp.dw.begin(), 0x80000000 | below(0x20000000)); break;
            case 7:
                tlp.dw[0] |= 1u << 15;
                if (one_in(2))
                    tlp.dw.push_back(edge());
                break;
            case 8: tlp.dw[1 % tlp.dw.size()] ^= 1u << below(8); break;
            }
        while (one_in(3));
    }
    Tlp noise() {
        Tlp tlp;
        for (unsigned n = 1 + below(one_in(8) ? 1040 : 8); n; n--)
            tlp.dw.push_back(edge());
        return tlp;
    }
    // Any of these, most of them damaged.
    Tlp any(const Tlp &read) {
        Tlp tlp = one_in(8) ? noise() : one_in(4) ? completion(read) : request();
        if (!one_in(3))
            damage(tlp);
        return tlp;
    }

    uint32_t edge() {
        static constexpr uint32_t kEdges[] = {0,          1,          0xff,       0x3ff,      0x400,      0xfff,
                                              0x1000,     0x7fffffff, 0x80000000, 0xffffffff, 0x40000001, 0x4a000001,
                                              0x60000000, 0x20000000, 0x0a000000, 0x10000000, 0xfee00000};
        return one_in(2) ? uint32_t(random_()) : kEdges[below(std::size(kEdges))];
    }

  private:
    std::vector<uint8_t> bytes_of(unsigned bytes) {
        std::vector<uint8_t> data(bytes);
        for (uint8_t &byte : data)
            byte = uint8_t(random_());
        return data;
    }

    std::mt19937_64 random_;
};

// The TLP that the builders of Tlp make from the fields of `tlp`. If a parser understands a TLP, it is the same one.
inline Tlp rebuilt(const Tlp &tlp) {
    std::vector<uint8_t> data(4 * tlp.payload_dwords());
    tlp.payload_bytes(data.data());
    Tlp again;
    if (tlp.is_completion()) {
        again = tlp.has_data() ? Tlp::completion_data(tlp.completer(), tlp.requester(), tlp.tag(), tlp.byte_count(),
                                                      tlp.lower_address(), data.data(), tlp.length())
                               : Tlp::completion(tlp.completer(), tlp.requester(), tlp.tag(), CplStatus(tlp.status()),
                                                 tlp.byte_count(), tlp.lower_address());
    } else {
        const unsigned lead = tlp.first_byte() & 3;
        again = tlp.has_data()
                    ? Tlp::memory_write(tlp.requester(), tlp.first_byte(), data.data() + lead, tlp.enabled_bytes())
                    : Tlp::memory_read(tlp.requester(), tlp.tag(), tlp.first_byte(), tlp.enabled_bytes());
        // A write has a tag too. Only requests of up to two dwords may leave bytes out between the first and the last
        // (2.2.5), and what their payload and that of others has in bytes that are not enabled means nothing.
        again.dw[1] |= uint32_t(tlp.tag()) << 8;
        if (tlp.length() <= 2)
            again.dw[1] = (again.dw[1] & ~0xffu) | tlp.last_be() << 4 | tlp.first_be();
        if (tlp.has_data())
            for (size_t i : {size_t(again.header_dwords()), again.dw.size() - 1})
                again.dw[i] = tlp.dw.at(i);
    }
    again.dw[0] |= tlp.dw[0] & Tlp::kAnswered;
    return again;
}

// Memory at every address.
class EndlessMemory : public HostMemory {
  public:
    bool read(uint64_t, uint8_t *data, size_t bytes) override {
        std::fill_n(data, bytes, 0x5a);
        return true;
    }
    bool write(uint64_t, const uint8_t *data, size_t bytes) override {
        sum += std::accumulate(data, data + bytes, 0u);
        return true;
    }
    unsigned sum = 0;
};

}  // namespace litepcie
