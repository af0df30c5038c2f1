// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* version: of the program and of the driver interface that it uses. */
#include <stdio.h>

#include "commands.h"
#include "json.h"

static int version_run(const struct settings *settings, const void *values, const char *argument)
{
	(void)values;
	(void)argument;
	if (!settings->json) {
		printf("%s %s, driver interface %d\n", PROGRAM, litepcie_version(),
		       LITEPCIE_UAPI_VERSION);
		return 0;
	}
	json_document("version");
	json_text("version", litepcie_version());
	json_number("driver_interface", LITEPCIE_UAPI_VERSION);
	json_end();
	return 0;
}

const struct command command_version = {
	.name = "version",
	.summary = "print the version of the program and of the driver interface it uses",
	.run = version_run,
};
