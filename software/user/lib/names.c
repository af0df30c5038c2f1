// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Texts for the numbers of the interface. */
#include <errno.h>
#include <string.h>

#include "liblitepcie.h"
#include "litepcie_regs.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
static const struct {
	uint32_t mask;
	const char *name;
} capabilities[] = {
	{ LITEPCIE_CAPABILITY_TO_CARD, "reader" },
	{ LITEPCIE_CAPABILITY_FROM_CARD, "writer" },
	{ LITEPCIE_CAPABILITY_MSI, "msi" },
	{ LITEPCIE_CAPABILITY_LINK, "link" },
	{ LITEPCIE_CAPABILITY_WINDOW, "window" },
	{ LITEPCIE_CAPABILITY_STREAM, "stream" },
	{ LITEPCIE_CAPABILITY_DIRECT, "direct" },
	{ LITEPCIE_CAPABILITY_MSIX, "msix" },
	{ LITEPCIE_CAPABILITY_USER, "user" },
	{ LITEPCIE_CAPABILITY_INTERRUPT, "interrupt" },
	{ LITEPCIE_CAPABILITY_HOST, "host" },
	{ LITEPCIE_CAPABILITY_LANE, "lane" },
};
/* clang-format on */

/* Errors of <linux/litepcie.h> and of open(). */
static const struct {
	int error;
	const char *text;
} errors[] = {
	{ EACCES, "permission denied" },
	{ EFAULT, "the buffer is not accessible" },
	{ EINTR, "interrupted by a signal before the first byte was moved" },
	{ EINVAL, "the driver rejected a value" },
	{ EIO, "the host answered a request of the card with an error (unsupported request, "
	       "completer abort, poisoned or wrong data)" },
	{ ENODEV, "the card is gone, or the driver was unbound" },
	{ ENOENT, "no such device file" },
	{ ENOMEM, "not enough memory" },
	{ ENOSPC, "past the end of the card's memory" },
	{ ENOTTY, "not a device of the LitePCIe SoC driver" },
	{ ENXIO, "the device file belongs to no driver" },
	{ EOPNOTSUPP, "the card has no engine for this direction" },
	{ EPERM, "not permitted; for a stream: its ring is larger than root allows in "
		 "/sys/module/litepcie/parameters/stream_bytes" },
	{ ERANGE, "outside the range of the user's registers" },
	{ EPROTONOSUPPORT, "the driver has another interface version" },
	{ ETIMEDOUT, "a completion timed out, or the card made no progress" },
};

const char *litepcie_capability_name(unsigned int bit)
{
	for (size_t i = 0; i < COUNT(capabilities); i++)
		if (bit < 32 && capabilities[i].mask == UINT32_C(1) << bit)
			return capabilities[i].name;
	return NULL;
}

const char *litepcie_direction_name(unsigned int direction)
{
	if (direction == LITEPCIE_TO_CARD)
		return "reader";
	return direction == LITEPCIE_FROM_CARD ? "writer" : NULL;
}

const char *litepcie_strerror(int error)
{
	for (size_t i = 0; i < COUNT(errors); i++)
		if (errors[i].error == -error)
			return errors[i].text;
	return strerror(-error);
}

const char *litepcie_version(void)
{
	return LITEPCIE_VERSION_TEXT;
}
