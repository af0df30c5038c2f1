// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers

// Random clients and a random host around the transaction layer. Every byte and every tag is checked.
//
// Options NAME=VALUE: seed, cycles, timeout (us); blocks (of the completion buffer), rcb; length (most bytes of a
// request), pause (client pauses, in 1/256), stall (of either side, in 1/256); latency (cycles); and how often, in
// 1/1024 of the requests: late (held back past the timeout), lost, error, poison, twice, stray (wrong requester).
// reset, link, master: mean cycles between two of these events, 0 for never. active: clients that make requests.

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>

#include "Vtop.h"
#include "dut.h"

static std::map<std::string, long> option = {
	{"seed", 1}, {"cycles", 100000}, {"timeout", 2000}, {"blocks", 64}, {"rcb", 64}, {"length", 512},
	{"pause", 64}, {"stall", 32}, {"latency", 100}, {"late", 0}, {"lost", 0}, {"error", 0}, {"poison", 0},
	{"twice", 0}, {"stray", 0}, {"reset", 0}, {"link", 0}, {"master", 0}, {"extended", 0}, {"active", CLIENTS},
	{"patience", 20000}};
static std::mt19937 rng;
static uint64_t now;

static unsigned below(unsigned n) { return rng() % n; }
static bool chance(long share, unsigned of) { return share && below(of) < (unsigned)share; }
static uint8_t pattern(uint64_t a) { return a * 0x9d + (a >> 8) * 0x35 + (a >> 16) * 0x51 + 7; }

[[noreturn]] static void fail(const std::string &what)
{
	printf("cycle %lu: %s\n", (unsigned long)now, what.c_str());
	exit(1);
}

// Clients

struct Request {
	uint64_t address;
	unsigned length;
	uint32_t destination;
	uint64_t since;
	std::map<uint32_t, bool> bytes;         // Those that came, and whether they were right.
};

struct Client {
	std::deque<Request> outstanding;
	Request offered{};
	bool offers = false;
	uint32_t next = 0;
	uint64_t done = 0, good = 0, bytes = 0;

	void make()
	{
		offered = {};
		offered.length = chance(64, 256) ? 1 + below(8) : 1 + below(option["length"]);
		if (!option["stall"])
			offered.length = option["length"];
		offered.address = ((uint64_t)(below(4) ? 0 : 3) << 32 | (uint64_t)below(1 << 20) << 12)
			+ (option["stall"] ? below(4097 - offered.length) : 0);
		offered.destination = next + (option["stall"] ? below(64) : 0);
		next += 1024;
		offers = true;
	}

	void take(uint32_t word, uint64_t dat, unsigned be)
	{
		for (unsigned lane = 0; lane < 8; lane++) {
			if (!(be >> lane & 1))
				continue;
			uint32_t at = word * 8 + lane;
			bool found = false;
			for (auto &r : outstanding) {
				uint32_t offset = at - r.destination;
				if (offset >= r.length)
					continue;
				found = true;
				// Bytes of a completion that a loss of the link truncated are wrong; its request fails.
				bool right = (uint8_t)(dat >> 8 * lane) == pattern(r.address + offset);
				if (!right && !option["link"])
					fail("a wrong byte");
				if (!r.bytes.emplace(offset, right).second)
					fail("a byte came twice");
			}
			if (!found)
				fail("a byte of no outstanding request");
		}
	}

	void retire(unsigned reason, unsigned count)
	{
		if (outstanding.empty())
			fail("more requests retired than were made");
		auto &r = outstanding.front();
		if (reason == 0 && count != r.length)
			fail("a request ended without an error, and without all bytes");
		for (unsigned n = 0; n < count; n++)
			if (!r.bytes.count(n) || !r.bytes[n])
				fail("a byte is missing or wrong");
		done++;
		good += reason == 0;
		bytes += count;
		outstanding.pop_front();
	}
};

static Client clients[CLIENTS];

// Host

struct Tlp { std::deque<uint32_t> dwords; };
struct Answer { std::deque<Tlp> tlps; uint64_t due; unsigned tag; };

static std::deque<Answer> answers;
static unsigned to_come[256];           // Bytes that may still come for each tag.
static unsigned blocks[256];            // Blocks of the card's buffer that they may fill.
static uint64_t peak_blocks;
static const uint16_t card = 0x0300;

static unsigned blocks_of(uint64_t from, unsigned length)
{
	uint64_t rcb = option["rcb"];
	return length ? (from + length - 1) / rcb - from / rcb + 1 : 0;
}

static Tlp completion(uint64_t at, unsigned chunk, unsigned left, unsigned tag, uint16_t requester, bool poisoned)
{
	Tlp t;
	unsigned dwords = ((at & 3) + chunk + 3) / 4;
	t.dwords = {0x4a000000u | (poisoned ? 1u << 14 : 0) | (dwords & 0x3ff), left & 0xfff,
		(uint32_t)requester << 16 | tag << 8 | (unsigned)(at & 0x7f)};
	for (unsigned d = 0; d < dwords; d++) {
		uint32_t word = 0;
		for (unsigned b = 0; b < 4; b++)
			word |= (uint32_t)pattern((at & ~3ull) + 4 * d + b) << 8 * (3 - b);
		t.dwords.push_back(word);
	}
	return t;
}

static void take_read(const std::deque<uint32_t> &d)
{
	bool four = d[0] >> 29 & 1;
	unsigned length = d[0] & 0x3ff ? d[0] & 0x3ff : 1024, tag = d[1] >> 8 & 0xff;
	unsigned first_be = d[1] & 15, last_be = d[1] >> 4 & 15;
	if (d.size() != (four ? 4 : 3) || d[0] >> 25 != 0 + (four ? 0x10 : 0) || d[1] >> 16 != card)
		fail("not a memory read of the card");
	uint64_t address = four ? (uint64_t)d[2] << 32 | d[3] : d[2];
	unsigned before = __builtin_ctz(first_be);
	unsigned after = last_be ? __builtin_clz(last_be) - 28 : __builtin_clz(first_be) - 28;
	uint64_t at = address + before;
	unsigned bytes = 4 * length - before - after, left = bytes;
	if (to_come[tag])
		fail("tag " + std::to_string(tag) + " was used again while its completions may come");
	Answer a{{}, now + 2 + below(option["latency"]), tag};
	to_come[tag] = bytes;
	blocks[tag] = blocks_of(at, bytes);
	while (left) {
		unsigned rcb = option["rcb"], steps = 1 + below(4);
		unsigned chunk = std::min<uint64_t>(left, (at / rcb + steps) * rcb - at);
		if (chance(option["error"], 1024)) {
			a.tlps.push_back({{0x0a000000u, (below(2) ? 1u : 4u) << 13 | (left & 0xfff),
				(uint32_t)card << 16 | tag << 8 | (unsigned)(at & 0x7f)}});
			break;
		}
		if (chance(option["stray"], 1024))
			a.tlps.push_back(completion(at, chunk, left, tag, card ^ (1 << below(16)), false));
		Tlp t = completion(at, chunk, left, tag, card, chance(option["poison"], 1024));
		a.tlps.push_back(t);
		if (left == chunk && chance(option["twice"], 1024))
			a.tlps.push_back(t);
		at += chunk;
		left -= chunk;
	}
	if (chance(option["lost"], 1024))
		a.due = ~0ull;
	else if (chance(option["late"], 1024))
		a.due = now + option["timeout"] / 2 + below(4 * option["timeout"]);
	answers.push_back(a);
	uint64_t sum = 0;
	for (unsigned n : blocks)
		sum += n;
	peak_blocks = std::max(peak_blocks, sum);
	if (sum > (uint64_t)option["blocks"])
		fail("more completions outstanding than the buffer has room for");
}

// A completion is on its way: what may still come after it?
static void sent(const Tlp &t)
{
	if (t.dwords[2] >> 16 != card)
		return;
	unsigned tag = t.dwords[2] >> 8 & 0xff, left = t.dwords[1] & 0xfff ? t.dwords[1] & 0xfff : 4096;
	if (!to_come[tag])
		return;
	unsigned lower = t.dwords[2] & 0x7f, dwords = t.dwords.size() - 3;
	bool error = !(t.dwords[0] >> 30 & 1);
	unsigned chunk = std::min(left, 4 * dwords - (lower & 3));
	to_come[tag] = error || chunk == left ? 0 : left - chunk;
	blocks[tag] = to_come[tag] ? blocks_of(lower + chunk, left - chunk) : 0;
}

static void forget()
{
	answers.clear();
	memset(to_come, 0, sizeof to_come);
	memset(blocks, 0, sizeof blocks);
}

// Bench

struct Source {                         // Beats to the card.
	Tlp tlp;
	bool first = true, valid = false;
};

struct Event {                          // Something that is asserted for some cycles, now and then.
	const char *name;
	unsigned longest;
	uint64_t begin = 0, end = 0;
	void plan()
	{
		long mean = option[name];
		begin = mean ? now + 1 + below(2 * mean) : ~0ull;
		end = mean ? begin + 1 + below(longest) : ~0ull;
	}
	bool active()
	{
		if (now >= end)
			plan();
		return now >= begin && now < end;
	}
};

int main(int argc, char **argv)
{
	for (int n = 1; n < argc; n++) {
		char *equals = strchr(argv[n], '=');
		option.at(std::string(argv[n], equals)) = atol(equals + 1);
	}
	rng.seed(option["seed"]);
	auto *top = new Vtop;
	Source source;
	std::deque<uint32_t> taken;
	Event reset{"reset", 300}, link{"link", 60}, master{"master", 400}, extended{"extended", 1500};
	for (auto *event : {&reset, &link, &master, &extended})
		event->plan();
	bool was_up = true;
	uint64_t end = option["cycles"];

	top->phy_id = card;
	top->timeout_us = option["timeout"];
	top->rcb_128 = option["rcb"] == 128;
	top->phy_source_be = 0xff;
	for (now = 0; ; now++) {
		bool draining = now >= end;
		bool busy = false;
		for (int n = 0; n < CLIENTS; n++)
			busy |= clients[n].offers || !clients[n].outstanding.empty();
		if (draining && !busy && top->drained)
			break;
		bool up = !link.active() || draining;
		if (!up && was_up) {
			forget();
			source = {};
			taken.clear();
		}
		was_up = up;
		top->phy_link_up = up;
		top->abandon = reset.active() && !draining;
		top->phy_bus_master_enable = !master.active() || draining;
		top->phy_extended_tag = !extended.active();

		// Host to card.
		if (source.tlp.dwords.empty() && up && !answers.empty()) {
			std::deque<size_t> ready;
			for (size_t n = 0; n < answers.size(); n++)
				if (answers[n].due <= now)
					ready.push_back(n);
			if (!ready.empty()) {
				size_t n = ready[below(ready.size())];
				source.tlp = answers[n].tlps.front();
				source.first = true;
				answers[n].tlps.pop_front();
				if (answers[n].tlps.empty())
					answers.erase(answers.begin() + n);
			}
		}
		if (!source.valid)
			source.valid = !source.tlp.dwords.empty() && !chance(option["stall"], 256);
		top->phy_source_valid = source.valid;
		top->phy_source_first = source.first;
		top->phy_source_last = source.tlp.dwords.size() <= 2;
		if (source.valid) {
			auto &d = source.tlp.dwords;
			top->phy_source_dat = d[0] | (uint64_t)(d.size() > 1 ? d[1] : 0) << 32;
		}
		top->phy_sink_ready = !chance(option["stall"], 256);

#define DRIVE(n)                                                                                        \
	{                                                                                               \
		auto &c = clients[n];                                                                   \
		if (!c.offers && !draining && n < option["active"] && !chance(option["pause"], 256))    \
			c.make();                                                                       \
		top->port##n##_request_valid = c.offers;                                                \
		top->port##n##_request_address = c.offered.address;                                     \
		top->port##n##_request_length = c.offered.length;                                       \
		top->port##n##_request_destination = c.offered.destination;                             \
		top->port##n##_data_ready = !chance(option["stall"], 256);                              \
	}
		EACH(DRIVE)
		top->sys_clk = 0;
		top->eval();

#define WATCH(n)                                                                                        \
	{                                                                                               \
		auto &c = clients[n];                                                                   \
		if (top->port##n##_data_valid && top->port##n##_data_ready)                             \
			c.take(top->port##n##_data_address, top->port##n##_data_dat, top->port##n##_data_be); \
		if (top->port##n##_retire_valid)                                                        \
			c.retire(top->port##n##_retire_reason, top->port##n##_retire_bytes);            \
		if (c.offers && top->port##n##_request_ready) {                                         \
			c.offers = false;                                                               \
			c.offered.since = now;                                                          \
			c.outstanding.push_back(c.offered);                                             \
		}                                                                                       \
		if (!c.outstanding.empty() && now - c.outstanding.front().since > (uint64_t)option["patience"]) \
			fail("a request hangs");                                                        \
	}
		EACH(WATCH)
		if (source.valid && top->phy_source_ready) {
			auto &d = source.tlp.dwords;
			if (source.first)
				sent(source.tlp);
			source.first = false;
			source.valid = false;
			for (int n = 0; n < 2 && !d.empty(); n++)
				d.pop_front();
		}
		if (top->phy_sink_valid && top->phy_sink_ready && up) {
			for (int n = 0; n < 2; n++)
				if (top->phy_sink_be >> 4 * n & 15)
					taken.push_back(top->phy_sink_dat >> 32 * n);
			if (top->phy_sink_last) {
				take_read(taken);
				taken.clear();
			}
		}
		top->sys_clk = 1;
		top->eval();
		if (now > end + 4 * (uint64_t)option["patience"])
			fail("requests do not end");
	}
	uint64_t done = 0, good = 0;
	printf("{\"bytes\": [");
	for (int n = 0; n < CLIENTS; n++) {
		done += clients[n].done;
		good += clients[n].good;
		printf("%s%lu", n ? ", " : "", (unsigned long)clients[n].bytes);
	}
	printf("], \"done\": %lu, \"good\": %lu, \"peak_blocks\": %lu}\n", (unsigned long)done, (unsigned long)good,
		(unsigned long)peak_blocks);
	return 0;
}
