// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The state of the lane, through the driver or a serial port of the board. */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "litepcie_regs.h"

/* Reads the registers and the snapshot of the lane. */

/* A request takes 5 us of the link's clock; a simulated card takes longer. */
#define TRIES	 100
#define PAUSE_NS 2000000

/* Words that one command of a serial port may read: its answer must not take 100 ms. */
#define CHUNK 64

/* Reads words of the snapshot, from @first to before @end. */
static int read_words(struct lane_port *port, struct lane_state *state, unsigned int first,
		      unsigned int end)
{
	int code = 0;

	for (; !code && first < end; first += CHUNK)
		code = port->read(port, LITEPCIE_LANE_SNAPSHOT + 4 * first, state->words + first,
				  end - first < CHUNK ? end - first : CHUNK);
	return code;
}

/* Reads the snapshot, of its log only what is filled: a serial port is slow. */
static int read_snapshot(struct lane_port *port, struct lane_state *state)
{
	int code = read_words(port, state, 0, LITEPCIE_LANE_STATE_END);
	uint32_t logged = state->words[LITEPCIE_LANE_WORD_LOGGED];

	if (logged > LITEPCIE_LANE_LOG_ENTRIES)
		logged = LITEPCIE_LANE_LOG_ENTRIES;
	return code ? code
		    : read_words(port, state, LITEPCIE_LANE_LOG_AT,
				 LITEPCIE_LANE_LOG_AT + 2 * logged);
}

/* Makes a request, and waits for its end. @done stays false if the link's clock stands still. */
static int request(struct lane_port *port, uint32_t control, uint32_t busy, bool *done)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS };
	int code = port->write(port, LITEPCIE_LANE_CONTROL, control);

	*done = false;
	for (int i = 0; !code && !*done && i < TRIES; i++) {
		uint32_t value;

		if (i)
			nanosleep(&pause, NULL);
		code = port->read(port, LITEPCIE_LANE_BUSY, &value, 1);
		*done = !code && !(value & busy);
	}
	return code;
}

int lane_check(struct lane_port *port, struct lane_state *state)
{
	uint32_t words[(LITEPCIE_LANE_IMAGE - LITEPCIE_LANE_MAGIC) / 4 + 1];
	int code = port->read(port, LITEPCIE_LANE_MAGIC, words, sizeof(words) / sizeof(*words));

#define REGISTER(name) words[(LITEPCIE_LANE_##name - LITEPCIE_LANE_MAGIC) / 4]
	memset(state, 0, sizeof(*state));
	if (code)
		return code;
	if (REGISTER(MAGIC) != LITEPCIE_LANE_MAGIC_VALUE)
		return fail(
			EXIT_FAILED,
			"%s: there are no registers of a lane: 0x%08x instead of 0x%08x; is "
			"this card's bitstream one of LitePCIe SoC with the endpoint in gateware?",
			port->name, REGISTER(MAGIC), LITEPCIE_LANE_MAGIC_VALUE);
	if (REGISTER(VERSION) != LITEPCIE_LANE_VERSION_VALUE)
		return fail(EXIT_FAILED,
			    "%s: the bitstream's state of the lane has version %u, this program "
			    "has version %d: use both of the same release",
			    port->name, REGISTER(VERSION), LITEPCIE_LANE_VERSION_VALUE);
	state->clock_hz = REGISTER(CLOCK_HZ);
	state->locks = REGISTER(LOCKS);
	state->refclk_hz = REGISTER(REFCLK_HZ);
	state->refclk_window = REGISTER(REFCLK_WINDOW);
	state->refclk_cycles = REGISTER(REFCLK_CYCLES);
	state->image = REGISTER(IMAGE);
#undef REGISTER
	return 0;
}

int lane_read(struct lane_port *port, struct lane_state *state)
{
	int code = request(port, LITEPCIE_LANE_CONTROL_SAMPLE, LITEPCIE_LANE_BUSY_SAMPLE,
			   &state->runs);

	if (!code && state->runs)
		code = read_snapshot(port, state);
	return code;
}

int lane_clear(struct lane_port *port)
{
	bool done;
	int code = request(port, LITEPCIE_LANE_CONTROL_CLEAR, LITEPCIE_LANE_BUSY_CLEAR, &done);

	if (!code && !done)
		return fail(EXIT_FAILED,
			    "%s: the link's clock stands still; the counters are cleared when it "
			    "runs",
			    port->name);
	return code;
}

/* A port through the driver: the registers of the SoC behind the user's bus. */

static int card_result(struct lane_port *port, int err)
{
	return err < 0 ? fail(exit_code_of(err), "%s: %s", port->name, litepcie_strerror(err)) : 0;
}

static int card_read(struct lane_port *port, uint32_t address, uint32_t *words, unsigned int count)
{
	return card_result(port,
			   litepcie_user_read(port->handle, port->base + address, words, count));
}

static int card_write(struct lane_port *port, uint32_t address, uint32_t value)
{
	return card_result(port,
			   litepcie_user_write(port->handle, port->base + address, &value, 1));
}

static void card_close(struct lane_port *port)
{
	litepcie_user_close(port->handle);
}

/* Reads what a hard block says: only its state, and only through the driver. */
static int hard_block(struct lane_port *port, const struct settings *settings)
{
	const char *name = strrchr(settings->device, '/');
	char folder[4096];

	*port = (struct lane_port){ .name = settings->device };
	snprintf(folder, sizeof(folder), SYSFS_CARDS "/%s", name ? name + 1 : settings->device);
	if (sysfs_line(folder, "ltssm", port->ltssm, sizeof(port->ltssm)))
		return 0;
	return fail(EXIT_USAGE,
		    "%s: this card has a hard block, whose lanes cannot be seen; 'config' "
		    "prints what PCI Express says of its link",
		    settings->device);
}

int lane_card_open(struct lane_port *port, const struct settings *settings)
{
	static char path[4096];
	struct litepcie_user *user;
	struct litepcie_info info;
	struct litepcie *card;
	int code, err;

	card = open_card(settings, &info, &code);
	if (!card)
		return code;
	litepcie_close(card);
	if (!(info.capabilities & LITEPCIE_CAPABILITY_LANE))
		return hard_block(port, settings);
	snprintf(path, sizeof(path), "%s_user", settings->device);
	err = litepcie_user_open(&user, path);
	if (err < 0)
		return fail(exit_code_of(err), "%s: %s", path, litepcie_strerror(err));
	*port = (struct lane_port){
		.handle = user,
		.name = path,
		.read = card_read,
		.write = card_write,
		.close = card_close,
		.base = litepcie_user_origin(user),
	};
	return 0;
}

/*
 * A port through a serial port of the board, which needs no host with a card: the protocol of
 * LiteX's UARTBone. A command is its number, a number of words, and a word address; words have the
 * most significant byte first.
 */

#define COMMAND_WRITE 1
#define COMMAND_READ  2

/* A board answers within milliseconds, a simulated one within a second. */
#define ANSWER_MS 2000
/* The board forgets a command that was not completed after 100 ms. */
#define FORGET_MS 150

#define WORDS_MAX 64

static const struct {
	uint64_t baud;
	speed_t speed;
} speeds[] = {
	{ 9600, B9600 },     { 19200, B19200 },	  { 38400, B38400 },
	{ 57600, B57600 },   { 115200, B115200 }, { 230400, B230400 },
	{ 460800, B460800 }, { 921600, B921600 }, { 1000000, B1000000 },
};

static int fd_of(const struct lane_port *port)
{
	return *(int *)port->handle;
}

/* Reads @size bytes. Returns 0, -ETIMEDOUT, or another negative errno. */
static int receive(int fd, uint8_t *bytes, size_t size)
{
	for (size_t got = 0; got < size;) {
		struct pollfd wanted = { .fd = fd, .events = POLLIN };
		int ready = poll(&wanted, 1, ANSWER_MS);
		ssize_t count;

		if (!ready)
			return -ETIMEDOUT;
		count = ready < 0 ? -1 : read(fd, bytes + got, size - got);
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (count < 0)
			return -errno;
		/* The other end of a pseudo terminal is gone, or a USB adapter. */
		if (!count)
			return -ENODEV;
		got += (size_t)count;
	}
	return 0;
}

static int transmit(int fd, const uint8_t *bytes, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		struct pollfd wanted = { .fd = fd, .events = POLLOUT };
		ssize_t count;

		if (poll(&wanted, 1, ANSWER_MS) == 0)
			return -ETIMEDOUT;
		count = write(fd, bytes + sent, size - sent);
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (count > 0)
			sent += (size_t)count;
	}
	return 0;
}

static void put_word(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* Sends a command and reads its answer. Once more if no answer came: the board may wait for the
 * rest of another one. */
static int exchange(int fd, const uint8_t *command, size_t size, uint8_t *answer, size_t expected)
{
	struct timespec forget = { .tv_nsec = FORGET_MS * 1000000L };
	int err = -ETIMEDOUT;

	for (int i = 0; err == -ETIMEDOUT && i < 2; i++) {
		if (i)
			nanosleep(&forget, NULL);
		tcflush(fd, TCIFLUSH);
		err = transmit(fd, command, size);
		if (!err)
			err = receive(fd, answer, expected);
	}
	return err;
}

static int serial_result(const struct lane_port *port, int err)
{
	if (err == -ETIMEDOUT)
		return fail(EXIT_GONE,
			    "%s: no answer: check the port, --baud, and that the board is on and "
			    "has its bitstream",
			    port->name);
	return err ? fail(EXIT_FAILED, "%s: %s", port->name, strerror(-err)) : 0;
}

static int serial_read(struct lane_port *port, uint32_t address, uint32_t *words,
		       unsigned int count)
{
	uint8_t command[6] = { COMMAND_READ, (uint8_t)count }, answer[4 * WORDS_MAX];
	int err;

	put_word(command + 2, (port->base + address) / 4);
	err = exchange(fd_of(port), command, sizeof(command), answer, 4 * count);
	for (unsigned int i = 0; !err && i < count; i++) {
		const uint8_t *at = answer + 4 * i;

		words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
			   at[3];
	}
	return serial_result(port, err);
}

static int serial_write(struct lane_port *port, uint32_t address, uint32_t value)
{
	uint8_t command[10] = { COMMAND_WRITE, 1 };

	put_word(command + 2, (port->base + address) / 4);
	put_word(command + 6, value);
	return serial_result(port, transmit(fd_of(port), command, sizeof(command)));
}

static void serial_close(struct lane_port *port)
{
	close(fd_of(port));
	free(port->handle);
}

static int set_speed(int fd, const char *path, uint64_t baud)
{
	struct termios settings;
	size_t i = 0;

	if (tcgetattr(fd, &settings))
		return fail(EXIT_USAGE,
			    "--serial: %s is not a serial port; give one such as /dev/ttyUSB1",
			    path);
	while (i < sizeof(speeds) / sizeof(*speeds) && speeds[i].baud != baud)
		i++;
	if (i == sizeof(speeds) / sizeof(*speeds))
		return fail(EXIT_USAGE,
			    "--baud: %" PRIu64
			    " is not supported; choose 9600, 19200, 38400, 57600, "
			    "115200, 230400, 460800, 921600 or 1000000",
			    baud);
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&settings, speeds[i].speed);
	if (tcsetattr(fd, TCSANOW, &settings))
		return fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
	return 0;
}

static int prepare(int fd, const char *path, uint64_t baud)
{
	/* Two readers would take each other's answers. */
	if (flock(fd, LOCK_EX | LOCK_NB))
		return fail(EXIT_FAILED, "%s: another program uses the port", path);
	return set_speed(fd, path, baud);
}

int lane_serial_open(struct lane_port *port, const char *path, uint64_t baud, uint64_t address)
{
	int *handle, code, fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return fail(errno == ENOENT ? EXIT_GONE : EXIT_FAILED, "%s: %s%s", path,
			    strerror(errno),
			    errno == EACCES ? ": give your user permission for the port, often by "
					      "the group dialout"
					    : "");
	code = prepare(fd, path, baud);
	handle = code ? NULL : malloc(sizeof(*handle));
	if (!handle) {
		close(fd);
		return code ? code : fail(EXIT_FAILED, "%s", strerror(ENOMEM));
	}
	*handle = fd;
	*port = (struct lane_port){
		.handle = handle,
		.name = path,
		.read = serial_read,
		.write = serial_write,
		.close = serial_close,
		.base = (uint32_t)address,
	};
	return 0;
}
