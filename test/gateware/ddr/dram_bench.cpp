// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Clients that try to make DRAMMemory lose data, reorder or hang: `top SEED CYCLES MODE SYS DRAM`. SYS and DRAM are
// half the periods of the two clocks.
//
// A read must return a value that its word had between the acceptance of its command and its answer. So it includes
// every write accepted in an earlier cycle. At the first violation the program prints a line and ends with status 1.
#include "Vtop.h"
#include "dut.h" // WORD_BYTES, WORDS, LINE_WORDS, WRITERS, READERS, CROSSING, FOR_EACH_WRITE, FOR_EACH_READ
#include "verilated.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

using Word = std::vector<uint8_t>;

struct Version {
    long until; // First cycle in which commands see the next version.
    Word value;
};

struct Command {
    long cycle;
    unsigned address;
};

struct Writer {
    bool valid = false;
    unsigned address = 0, next = 0, left = 0;
    unsigned begin = 0, end = 0; // Bytes of a piece that are still to be written.
    uint64_t enable = 0;
    Word dat = Word(WORD_BYTES);
    long accepted = 0;
};

struct Reader {
    bool valid = false, ready = false, stopped = false;
    unsigned address = 0, next = 0, left = 0;
    std::deque<Command> wanted;
    long answered = 0;
};

Vtop top;
std::mt19937_64 rng;
std::string mode;
long cycle, sys_half, dram_half;
unsigned hot;
std::vector<Word> image(WORDS, Word(WORD_BYTES));
std::vector<std::deque<Version>> history(WORDS);
std::deque<unsigned> written; // Latest addresses, to read them at once.

bool chance(unsigned percent) { return rng() % 100 < percent; }

// Consecutive words, single words of a few lines, or words written just before.
unsigned choose(unsigned &next, unsigned &left, bool read) {
    if (mode == "stream")
        return next = (next + 1) % (WORDS / 2);
    if (left) {
        left--;
        return next = (next + 1) % WORDS;
    }
    if (read && !written.empty() && chance(60))
        return next = written[rng() % written.size()];
    if (chance(30))
        left = rng() % 40;
    return next = chance(80) ? (hot + rng() % (3 * LINE_WORDS)) % WORDS : rng() % WORDS;
}

// Pieces of any length at any byte, as an engine writes them; some begin at the end of the previous one.
void next_of_piece(Writer &writer) {
    if (writer.begin == writer.end) {
        if (chance(60) || writer.end >= WORDS * WORD_BYTES)
            writer.begin = (hot + rng() % (3 * LINE_WORDS)) % WORDS * WORD_BYTES + rng() % WORD_BYTES;
        const unsigned most = chance(40) ? WORD_BYTES : chance(50) ? 3 * LINE_WORDS * WORD_BYTES : 40 * WORD_BYTES;
        writer.end = std::min(writer.begin + 1 + unsigned(rng() % most), WORDS * WORD_BYTES);
    }
    writer.address = writer.begin / WORD_BYTES;
    const unsigned next = std::min((writer.address + 1) * WORD_BYTES, writer.end);
    writer.enable = ~0ull >> (64 - (next - writer.begin)) << writer.begin % WORD_BYTES;
    writer.begin = next;
}

void offer(Writer &writer) {
    if (writer.valid || (mode != "stream" && chance(mode == "calm" ? 70 : 25)))
        return;
    writer.valid = true;
    if (mode == "pieces") {
        next_of_piece(writer);
    } else {
        writer.address = choose(writer.next, writer.left, false);
        writer.enable = mode == "stream" || chance(50) ? ~0ull : chance(10) ? 0 : rng();
    }
    for (auto &byte : writer.dat)
        byte = rng();
}

void offer(Reader &reader) {
    reader.ready = !reader.stopped && (mode == "stream" || !chance(20));
    if (reader.valid || (mode != "stream" && chance(mode == "calm" ? 70 : 10)))
        return;
    reader.valid = true;
    reader.address = choose(reader.next, reader.left, true);
}

void write(Writer &writer) {
    Word &word = image[writer.address];
    history[writer.address].push_back({cycle + 1, word});
    for (unsigned n = 0; n < WORD_BYTES; n++)
        if (writer.enable >> n & 1)
            word[n] = writer.dat[n];
    writer.valid = false;
    writer.accepted++;
    written.push_back(writer.address);
    if (written.size() > 4)
        written.pop_front();
}

bool answer(Reader &reader, const uint8_t *dat) {
    if (reader.wanted.empty()) {
        std::printf("cycle %ld: a word without a command\n", cycle);
        return false;
    }
    const Command command = reader.wanted.front();
    reader.wanted.pop_front();
    reader.answered++;
    bool found = !memcmp(image[command.address].data(), dat, WORD_BYTES);
    for (const auto &version : history[command.address])
        found = found || (version.until > command.cycle && !memcmp(version.value.data(), dat, WORD_BYTES));
    if (!found)
        std::printf("cycle %ld: word %u, requested in cycle %ld, is not what was written\n", cycle, command.address,
                    command.cycle);
    return found;
}

// Drops versions that no command in flight may see any more.
void forget(const std::vector<Reader> &readers) {
    long oldest = cycle;
    for (const auto &reader : readers)
        if (!reader.wanted.empty() && reader.wanted.front().cycle < oldest)
            oldest = reader.wanted.front().cycle;
    for (auto &versions : history)
        while (!versions.empty() && versions.front().until <= oldest)
            versions.pop_front();
}

// Runs until just before the next rising edge of sys.
void tick() {
    static long time = 0;
    do {
        time++;
        top.sys_clk = time / sys_half % 2;
#if CROSSING
        top.dram_clk = time / dram_half % 2;
#endif
        top.eval();
    } while (time % (2 * sys_half) != 2 * sys_half - 1);
}

} // namespace

int main(int, char **argv) {
    rng.seed(std::atol(argv[1]));
    const long cycles = std::atol(argv[2]);
    mode = argv[3];
    sys_half = std::atol(argv[4]);
    dram_half = std::atol(argv[5]);
    std::vector<Writer> writers(WRITERS);
    std::vector<Reader> readers(READERS);
    for (unsigned n = 0; n < WRITERS; n++)
        writers[n].next = n * WORDS / WRITERS;
    for (unsigned n = 0; n < READERS; n++)
        readers[n].next = (2 * n + 1) * WORDS / (2 * READERS);
    long progress = 0, drained = 0;
    for (cycle = 0; cycle < cycles || drained < 4; cycle++) {
        const bool ending = cycle >= cycles;
        if (cycle % 500 == 0)
            hot = rng() % WORDS;
        if (mode == "stop")
            readers[0].stopped = !ending;
        for (auto &writer : writers)
            if (!ending)
                offer(writer);
        for (auto &reader : readers)
            if (!ending || reader.valid)
                offer(reader);
            else
                reader.ready = true;
#define DRIVE_WRITE(n)                                                                                                 \
    top.write##n##_valid = writers[n].valid;                                                                           \
    top.write##n##_address = writers[n].address;                                                                       \
    memcpy(&top.write##n##_dat, writers[n].dat.data(), WORD_BYTES);                                                    \
    memcpy(&top.write##n##_be, &writers[n].enable, WORD_BYTES / 8);
        FOR_EACH_WRITE(DRIVE_WRITE)
#define DRIVE_READ(n)                                                                                                  \
    top.read##n##_command_valid = readers[n].valid;                                                                    \
    top.read##n##_command_address = readers[n].address;                                                                \
    top.read##n##_data_ready = readers[n].ready;
        FOR_EACH_READ(DRIVE_READ)
        top.eval();
        // Commands first: a read may see a write of the same cycle or not.
        bool moved = false, good = true, waits = false;
#define TAKE_COMMAND(n)                                                                                                \
    if (readers[n].valid && top.read##n##_command_ready) {                                                             \
        readers[n].wanted.push_back({cycle, readers[n].address});                                                      \
        readers[n].valid = false;                                                                                      \
        moved = true;                                                                                                  \
    }
        FOR_EACH_READ(TAKE_COMMAND)
#define TAKE_ANSWER(n)                                                                                                 \
    if (readers[n].ready && top.read##n##_data_valid) {                                                                \
        good = answer(readers[n], reinterpret_cast<const uint8_t *>(&top.read##n##_data_dat)) && good;                 \
        moved = true;                                                                                                  \
    }
        FOR_EACH_READ(TAKE_ANSWER)
#define TAKE_WRITE(n)                                                                                                  \
    if (writers[n].valid && top.write##n##_ready) {                                                                    \
        write(writers[n]);                                                                                             \
        moved = true;                                                                                                  \
    }
        FOR_EACH_WRITE(TAKE_WRITE)
        if (!good)
            return 1;
        tick();
        for (const auto &reader : readers)
            waits = waits || reader.valid || !reader.wanted.empty();
        for (const auto &writer : writers)
            waits = waits || writer.valid;
        progress = moved || !waits ? cycle : progress;
        // Without masks, a batch of partial writes takes thousands of cycles.
        if (cycle - progress > 8000) {
            std::printf("cycle %ld: no client made progress\n", cycle);
            return 1;
        }
        drained = ending && !waits ? drained + 1 : 0;
        if (cycle % 256 == 0)
            forget(readers);
    }
    std::printf("cycles %ld", cycle);
    for (const auto &writer : writers)
        std::printf(" %ld", writer.accepted);
    for (const auto &reader : readers)
        std::printf(" %ld", reader.answered);
    std::printf("\n");
    return 0;
}
