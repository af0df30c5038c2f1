// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* scratch_test: writes the scratch register over the link, reads it back and compares. */
#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "json.h"

#define WALKING 32
#define TOTAL	(4 + 2 * WALKING)

/* All zeros, all ones, both checkerboards, a walking one, a walking zero. */
static uint32_t pattern(unsigned int i)
{
	static const uint32_t first[] = { 0x00000000, 0xffffffff, 0x55555555, 0xaaaaaaaa };

	if (i < 4)
		return first[i];
	if (i < 4 + WALKING)
		return UINT32_C(1) << (i - 4);
	return ~(UINT32_C(1) << (i - 4 - WALKING));
}

static void report(const struct settings *settings, unsigned int done, uint32_t got)
{
	bool ok = done == TOTAL;

	if (!settings->json) {
		if (ok)
			printf("scratch register: %u patterns written and read back\n", done);
		return;
	}
	json_document("scratch_test");
	json_bool("ok", ok);
	json_text("device", settings->device);
	json_number("patterns", done);
	if (!ok) {
		json_object("mismatch");
		json_number("expected", pattern(done));
		json_number("got", got);
		json_end();
	}
	json_end();
}

static int scratch_test_run(const struct settings *settings, const void *values,
			    const char *argument)
{
	struct litepcie_info info;
	uint32_t got = 0;
	unsigned int done;
	int err = 0, code = 0;
	struct litepcie *card = open_card(settings, &info, &code);

	(void)values;
	(void)argument;
	if (!card)
		return code;
	for (done = 0; done < TOTAL; done++) {
		err = litepcie_scratch(card, pattern(done), &got);
		if (err < 0 || got != pattern(done))
			break;
	}
	litepcie_close(card);
	if (err < 0)
		return fail(exit_code_of(err), "%s: scratch register, pattern 0x%08" PRIx32 ": %s",
			    settings->device, pattern(done), litepcie_strerror(err));
	report(settings, done, got);
	if (done == TOTAL)
		return 0;
	return fail(EXIT_MISMATCH,
		    "%s: scratch register: expected 0x%08" PRIx32 ", got 0x%08" PRIx32 "%s",
		    settings->device, pattern(done), got,
		    got == UINT32_MAX ? " (all ones: the card may be gone)" : "");
}

const struct command command_scratch_test = {
	.name = "scratch_test",
	.summary = "write patterns to the scratch register and read them back",
	.run = scratch_test_run,
};
