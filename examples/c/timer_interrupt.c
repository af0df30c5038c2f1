// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/*
 * Waits for an interrupt of the card's user logic, and removes its cause: the timer of the
 * simulated board's user core (targets/sim.py --user-core), which expires COUNT times.
 *
 *	timer_interrupt [COUNT]
 */
#include <fcntl.h>
#include <liblitepcie.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Offsets in /dev/litepcie0_user; csr.h of the board has them. */
enum { LOAD = 0x14, RELOAD = 0x18, ENABLE = 0x1c, EV_PENDING = 0x2c, EV_ENABLE = 0x30 };

static void set(int user, off_t offset, uint32_t value)
{
	if (pwrite(user, &value, sizeof(value), offset) != sizeof(value))
		perror("/dev/litepcie0_user");
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 3, user = open("/dev/litepcie0_user", O_RDWR), err;
	struct litepcie_interrupt *timer;
	uint32_t count;

	err = litepcie_interrupt_open(&timer, 0, "timer");
	set(user, LOAD, 10000); /* Cycles of the card. */
	set(user, RELOAD, 10000);
	set(user, EV_PENDING, 1); /* The cause that is there after power-on. */
	set(user, EV_ENABLE, 1);
	set(user, ENABLE, 1);
	while (!err && left--) {
		err = litepcie_interrupt_wait(timer, 10000, &count); /* Arms it. */
		if (!err)
			printf("interrupt %u\n", count);
		set(user, EV_PENDING, 1); /* Before it is armed again. */
	}
	set(user, ENABLE, 0);
	litepcie_interrupt_close(timer);
	if (err)
		fprintf(stderr, "timer: %s\n", litepcie_strerror(err));
	return err != 0;
}
