// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "model/model_options.h"

#include "host/faults.h"

#include <stdexcept>

namespace litepcie {

void add_model_options(CommandLine &line, ModelOptions &o) {
    constexpr uint64_t kSecond = 1000000000;
    line.choice("--mps-supported", "largest payload the card announces, bytes (512)", o.mps_supported,
                {128, 256, 512, 1024, 2048, 4096});
    line.choice<bool>("--extended-tag", "the card offers extended tags, and the host enables them: tags above 31 (on)",
                      o.extended_tag, {{"on", true}, {"off", false}});
    line.number("--latency-ns", "NS", "host: read request to first completion (1000)", o.latency_ns, 0, kSecond);
    line.number("--latency-jitter-ns", "NS", "host: uniform addition to it (0)", o.latency_jitter_ns, 0, kSecond);
    line.number("--latency-outlier-ns", "NS", "host: addition to it for a request now and then (0)",
                o.latency_outlier_ns, 0, kSecond);
    line.number("--latency-outlier-every", "N", "one such request in so many (1000)", o.latency_outlier_every, 1,
                kSecond);
    line.choice("--rcb", "read completion boundary, bytes (64)", o.rcb, {64, 128});
    line.choice("--completion-bytes", "0: completions up to MPS; 64, 128: so many bytes each (0)", o.completion_bytes,
                {0, 64, 128});
    line.check([&o] {
        if (o.completion_bytes && o.completion_bytes < o.rcb)
            throw UsageError("--completion-bytes 64 with --rcb 128: completions end at multiples of 128 bytes");
    });
    line.number("--seed", "N", "of latency jitter and order (1)", o.seed, 0, UINT64_MAX);
    line.flag("--reorder", "completions of different requests overtake each other", o.reorder);
    line.choice<UpdateFc>("--update-fc",
                          "credits come back at the recommended interval, or as seldom as they may (guideline)",
                          o.update_fc, {{"guideline", UpdateFc::Guideline}, {"minimum", UpdateFc::Minimum}});
    line.number("--lcrc-every", "N", "every N-th TLP of each direction arrives damaged and is replayed; 0: none (0)",
                o.lcrc_every, 0, kSecond);
    line.flag("--iommu", "report every access outside a live mapping", o.iommu);
    line.each("--inject", "FAULT@N", "on the N-th completion: ur, ca, poison, drop, short, duplicate, late; repeatable",
              [&o](const std::string &fault) {
                  try {
                      FaultInjector().add(fault);
                  } catch (const std::invalid_argument &error) {
                      throw UsageError(std::string("--inject: ") + error.what());
                  }
                  o.faults.push_back(fault);
              });
    line.text("--stats", "FILE", "write figures as JSON", o.stats);
    line.text("--trace", "FILE", "write one line for each TLP", o.trace);
}

}  // namespace litepcie
