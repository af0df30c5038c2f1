// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* The errno for a bad pointer, offset, length or ioctl; the card works afterwards. */
#include "check.h"

static int fd;
static off_t memory_end;
/* Volatile, so that the compiler does not warn about values the kernel must refuse. */
static void *volatile unmapped = (void *)16;
static void *volatile kernel_address = (void *)-4096l;

static void still_works(void)
{
	struct guarded out = guarded_alloc(5000, 3), in = guarded_alloc(5000, 5);
	static uint32_t pass = 1000;

	fill(out.bytes, 5000, ++pass);
	ok(pwrite(fd, out.bytes, 5000, 4093) == 5000 && pread(fd, in.bytes, 5000, 4093) == 5000);
	check_bytes(in.bytes, out.bytes, 5000, "after an error");
	guarded_check(&in, "after an error");
	free(out.whole);
	free(in.whole);
}

static void bad_pointers(void)
{
	size_t page = page_bytes();
	uint8_t *map = zeroed(2 * page);
	uint8_t *readonly = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	ok(readonly != MAP_FAILED);
	memset(map, 0x5a, 2 * page);
	for (size_t length = 1; length <= (1 << 20); length *= 32) {
		expect_errno(pread(fd, unmapped, length, 0), EFAULT);
		still_works();
		expect_errno(pwrite(fd, unmapped, length, 0), EFAULT);
		still_works();
		expect_errno(pread(fd, kernel_address, length, 0), EFAULT);
		still_works();
	}
	expect_errno(pread(fd, readonly, 2 * page, 0), EFAULT);
	still_works();
	/* The second page is not mapped: EFAULT, or only the bytes before it. */
	ok(!munmap(map + page, page));
	n = pwrite(fd, map + 96, 2 * page - 192, 0);
	check((n == -1 && errno == EFAULT) || (n > 0 && n <= (ssize_t)page - 96), "returned %zd", n);
	still_works();
	n = pread(fd, map + 96, 2 * page - 192, 0);
	check((n == -1 && errno == EFAULT) || (n > 0 && n <= (ssize_t)page - 96), "returned %zd", n);
	still_works();
}

static void offsets(void)
{
	uint8_t bytes[256];

	expect_errno(pread(fd, bytes, 1, -1), EINVAL);
	expect_errno(pwrite(fd, bytes, 1, -1), EINVAL);
	check(pread(fd, bytes, 256, memory_end) == 0, "a read at the end is 0");
	check(pread(fd, bytes, 256, memory_end + 12345) == 0, "a read past the end is 0");
	check(pread(fd, bytes, 256, memory_end - 7) == 7, "a read near the end is short");
	check(pwrite(fd, bytes, 256, memory_end - 7) == 7, "a write near the end is short");
	expect_errno(pwrite(fd, bytes, 256, memory_end), ENOSPC);
	expect_errno(pwrite(fd, bytes, 256, memory_end + 1), ENOSPC);
	check(pread(fd, bytes, 0, 0) == 0, "length 0");
	check(pwrite(fd, bytes, 0, 0) == 0, "length 0");
	check(pread(fd, unmapped, 0, 0) == 0, "length 0 of a bad pointer");

	check(lseek(fd, 0, SEEK_END) == memory_end, "%lld", (long long)lseek(fd, 0, SEEK_CUR));
	check(read(fd, bytes, 1) == 0, "end of file");
	ok(lseek(fd, 100, SEEK_SET) == 100 && read(fd, bytes, 11) == 11);
	check(lseek(fd, 0, SEEK_CUR) == 111, "the position moves with the bytes");
	expect_errno(lseek(fd, -1, SEEK_SET), EINVAL);
	still_works();
}

static void ioctls(void)
{
	struct litepcie_info info = card_info(fd);
	struct litepcie_counters counters = { .size = sizeof(counters) };
	struct litepcie_scratch scratch = { .size = sizeof(scratch), .value = 0xdeadbeef };

	check(info.uapi_version == LITEPCIE_UAPI_VERSION, "%u", info.uapi_version);
	check((off_t)info.memory_bytes == memory_end, "%llu", info.memory_bytes);
	info = (struct litepcie_info){ .size = sizeof(info), .flags = 1 };
	expect_errno(ioctl(fd, LITEPCIE_IOC_INFO, &info), EINVAL);
	info = (struct litepcie_info){ .size = 4 };
	expect_errno(ioctl(fd, LITEPCIE_IOC_INFO, &info), EINVAL);
	expect_errno(ioctl(fd, LITEPCIE_IOC_INFO, unmapped), EFAULT);
	expect_errno(ioctl(fd, _IO(LITEPCIE_IOC_MAGIC, 0x7f), 0), ENOTTY);

	counters.channel = 99;
	expect_errno(ioctl(fd, LITEPCIE_IOC_COUNTERS, &counters), EINVAL);
	counters = (struct litepcie_counters){ .size = sizeof(counters), .direction = 2 };
	expect_errno(ioctl(fd, LITEPCIE_IOC_COUNTERS, &counters), EINVAL);
	ok(!ioctl(fd, LITEPCIE_IOC_SCRATCH, &scratch));
	check(scratch.readback == 0xdeadbeef, "%08x", scratch.readback);
	still_works();
}

/* A call ends with `code`, or succeeds if that is 0. */
static void ends(long result, int code)
{
	check(code ? result == -1 && errno == code : !result, "returned %ld, %s, expected %s", result, strerror(errno),
	      strerror(code));
}

/* An ioctl. Bytes of its structure from `reserved` to `end` must be 0; one of zeros ends with `code`. */
struct command {
	unsigned long number;
	size_t size, reserved, end;
	uint32_t flags; /* that are allowed */
	int code;
};

static union {
	struct {
		uint32_t size, flags;
		int32_t fd; /* of a dma-buf; another ioctl has its reserved members later */
	};
	uint8_t bytes[1 << 17]; /* more than a page of any kernel */
} arg;

static void begin(const struct command *c, size_t given)
{
	memset(&arg, 0, sizeof(arg));
	arg.size = given;
	if (c->number == LITEPCIE_IOC_DMABUF_ATTACH)
		arg.fd = -1;
}

/* What holds for every ioctl: sizes, flags, reserved members, pointers, directions. */
static void every_argument(const struct command *c)
{
	size_t page = page_bytes(), size = c->size;
	uint8_t *map = zeroed(2 * page);

	ok(!munmap(map + page, page));
	for (size_t given = 0; given < size; given += 4) {
		begin(c, given);
		expect_errno(ioctl(fd, c->number, &arg), EINVAL);
	}
	/* This version, and larger ones whose further bytes are 0. */
	for (size_t given = size; given <= page; given += given < size + 16 ? 1 : page / 11) {
		begin(c, given);
		memset(arg.bytes + given, 0x5a, sizeof(arg) - given);
		ends(ioctl(fd, c->number, &arg), c->code);
		check(c->code || arg.size == size, "size %u", arg.size);
		check_value(arg.bytes + given, 0x5a, sizeof(arg) - given, "after the structure");
		if (given > size) {
			begin(c, given);
			arg.bytes[given - 1] = 1;
			expect_errno(ioctl(fd, c->number, &arg), E2BIG);
		}
	}
	begin(c, page + 1);
	expect_errno(ioctl(fd, c->number, &arg), E2BIG);
	begin(c, ~0u);
	expect_errno(ioctl(fd, c->number, &arg), E2BIG);
	for (int bit = 0; bit < 32; bit++) {
		begin(c, size);
		arg.flags = 1u << bit;
		if (!(arg.flags & c->flags))
			expect_errno(ioctl(fd, c->number, &arg), EINVAL);
	}
	for (size_t at = c->reserved; at < c->end; at++) {
		begin(c, size);
		arg.bytes[at] = 1;
		expect_errno(ioctl(fd, c->number, &arg), EINVAL);
	}
	expect_errno(ioctl(fd, c->number, NULL), EFAULT);
	expect_errno(ioctl(fd, c->number, unmapped), EFAULT);
	expect_errno(ioctl(fd, c->number, kernel_address), EFAULT);
	/* The structure ends after the last page that is mapped. */
	memcpy(map + page - 8, &(uint32_t[2]){ size, 0 }, 8);
	expect_errno(ioctl(fd, c->number, map + page - 8), EFAULT);
	ok(!munmap(map, page));
	expect_errno(ioctl(fd, c->number & ~((unsigned long)_IOC_DIRMASK << _IOC_DIRSHIFT), &arg), ENOTTY);
}

#define COMMAND(NAME, name) .number = LITEPCIE_IOC_##NAME, .size = sizeof(struct litepcie_##name)
/* A structure whose last members are reserved, from `member` on. */
#define RESERVED(NAME, name, member) COMMAND(NAME, name), .end = sizeof(struct litepcie_##name), \
	.reserved = offsetof(struct litepcie_##name, member)

static void every_ioctl(void)
{
	static const struct command commands[] = {
		{ RESERVED(INFO, info, reserved) },
		{ RESERVED(COUNTERS, counters, reserved) },
		{ RESERVED(ERRORS, errors, reserved0) },
		{ COMMAND(SCRATCH, scratch) },
		{ RESERVED(RESET, reset, reserved) },
		{ RESERVED(CANCEL, cancel, reserved) },
		{ RESERVED(DMABUF_ATTACH, dmabuf_attach, reserved), .code = EBADF },
		{ RESERVED(DMABUF_DETACH, dmabuf_detach, reserved0), .code = ENOENT },
		{ COMMAND(DMABUF_MOVE, dmabuf_move), .flags = LITEPCIE_DMABUF_ASYNC, .code = ENOENT },
		{ RESERVED(DMABUF_WAIT, dmabuf_wait, reserved),
		  .flags = LITEPCIE_DMABUF_NOWAIT | LITEPCIE_DMABUF_CANCEL, .code = ENOENT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		every_argument(&commands[i]);
	for (unsigned int number = 12; number < 256; number++)
		expect_errno(ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, LITEPCIE_IOC_MAGIC, number, 16), &fd), ENOTTY);
	expect_errno(ioctl(fd, _IOWR(LITEPCIE_IOC_MAGIC + 1, 0, struct litepcie_info), &fd), ENOTTY);
	still_works();
}

/* Files that are open for one direction only. */
static void read_only(void)
{
	struct litepcie_scratch scratch = { .size = sizeof(scratch), .value = 0xfeedface };
	struct litepcie_errors errors = { .size = sizeof(errors) };
	int readable = open(DEVICE, O_RDONLY), writable = open(DEVICE, O_WRONLY);

	ok(readable >= 0 && writable >= 0);
	expect_errno(ioctl(readable, LITEPCIE_IOC_SCRATCH, &scratch), EBADF);
	ok(!ioctl(readable, LITEPCIE_IOC_ERRORS, &errors) && !ioctl(writable, LITEPCIE_IOC_SCRATCH, &scratch));
	check(scratch.readback == 0xfeedface, "%08x", scratch.readback);
	ok(!close(readable) && !close(writable));
}

/* Resets both engines while a child moves data, which must not see it. */
static void engine_reset(void)
{
	struct litepcie_info info = { .size = sizeof(info) };
	struct litepcie_reset reset;
	int readable = open(DEVICE, O_RDONLY);
	pid_t child = fork();

	ok(child >= 0 && readable >= 0 && !ioctl(fd, LITEPCIE_IOC_INFO, &info));
	if (!child) {
		for (int i = 0; i < 20; i++)
			still_works();
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		reset = (struct litepcie_reset){ .size = sizeof(reset), .direction = i % 2,
						 .channel = i / 2 % info.channels };
		ok(!ioctl(fd, LITEPCIE_IOC_RESET, &reset));
	}
	wait_child(child);
	reset = (struct litepcie_reset){ .size = sizeof(reset), .channel = info.channels };
	expect_errno(ioctl(fd, LITEPCIE_IOC_RESET, &reset), EINVAL);
	reset = (struct litepcie_reset){ .size = sizeof(reset), .direction = 2 };
	expect_errno(ioctl(fd, LITEPCIE_IOC_RESET, &reset), EINVAL);
	reset = (struct litepcie_reset){ .size = sizeof(reset) };
	expect_errno(ioctl(readable, LITEPCIE_IOC_RESET, &reset), EBADF);
	child = fork();
	if (!child) {
		ok(!setuid(65534));
		expect_errno(ioctl(fd, LITEPCIE_IOC_RESET, &reset), EPERM);
		_exit(0);
	}
	wait_child(child);
	ok(!close(readable));
	still_works();
}

static void mapping(void)
{
	struct litepcie_info info = card_info(fd);
	uint8_t out[64], in[64];
	volatile uint32_t *window;

	expect_errno(mmap(NULL, info.window_bytes + page_bytes(), PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	expect_errno(mmap(NULL, page_bytes(), PROT_READ, MAP_SHARED, fd, info.window_bytes), EINVAL);
	expect_errno(mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), EINVAL);
	expect_errno(mmap(NULL, 2 * page_bytes(), PROT_READ, MAP_SHARED, fd, info.window_bytes - page_bytes()), EINVAL);
	window = mapped(fd, 0, info.window_bytes);
	fill(out, sizeof(out), 77);
	ok(pwrite(fd, out, sizeof(out), 8192) == sizeof(out));
	for (int i = 0; i < 16; i++)
		((uint32_t *)in)[i] = window[2048 + i];
	check_bytes(in, out, sizeof(in), "DMA, then PIO");
	for (int i = 0; i < 16; i++)
		window[2048 + i] = 0x01010101u * i;
	check(window[2048 + 15] == 0x0f0f0f0f, "%08x", window[2048 + 15]);
	ok(pread(fd, in, sizeof(in), 8192) == sizeof(in));
	for (int i = 0; i < 64; i++)
		check(in[i] == i / 4, "PIO, then DMA: byte %d is %02x", i, in[i]);
	((volatile uint8_t *)window)[8192 + 5] = 0xee;
	check(window[2048 + 1] == 0x0101ee01, "a byte write: %08x", window[2048 + 1]);
	/* The window is memory that cannot be pinned. */
	expect_errno(pread(fd, (void *)window, 8192, 0), EFAULT);
	ok(!munmap((void *)window, info.window_bytes));
}

/* Ranges that x86 knows as write-combined; other processors have no such list, there it is what is `expected`. */
static int listed_as_combined(int expected)
{
#if defined(__i386__) || defined(__x86_64__)
	FILE *file = popen("grep -c write-combining /sys/kernel/debug/x86/pat_memtype_list", "r");

	check(file && fscanf(file, "%d", &expected) == 1, "no list of memory types");
	pclose(file);
#endif
	return expected;
}

static uint64_t *map_combined(size_t bytes, off_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset + LITEPCIE_MMAP_COMBINED);
}

/* The window is mapped one way at a time. */
static void combined(void)
{
	struct litepcie_info info = card_info(fd);
	volatile uint32_t *uncached;
	uint8_t out[4096], in[4096];
	size_t page = page_bytes();
	uint64_t *window;
	int go[2];
	pid_t child;

	expect_errno(map_combined(info.window_bytes + page, 0), EINVAL);
	expect_errno(map_combined(page, info.window_bytes), EINVAL);
	expect_errno(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, LITEPCIE_MMAP_COMBINED * 2), EINVAL);
	check(!listed_as_combined(0), "a range is write-combined without a mapping");

	uncached = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ok(uncached != MAP_FAILED && uncached[0] == uncached[0]);
	expect_errno(map_combined(page, 0), EBUSY);
	ok(!munmap((void *)uncached, page));

	window = map_combined(3 * page, page);
	ok(window != MAP_FAILED);
	check(listed_as_combined(1) == 1, "%d ranges are write-combined", listed_as_combined(1));
	fill(out, sizeof(out), 78);
	for (int i = 0; i < 512; i++)
		window[i] = ((uint64_t *)out)[i];
	__sync_synchronize();
	ok(pread(fd, in, sizeof(in), page) == sizeof(in));
	check_bytes(in, out, sizeof(in), "write-combined stores, then DMA");
	check(!memcmp(window, out, sizeof(out)), "loads of what was stored");
	expect_errno(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0), EBUSY);

	/* What is left after the middle was unmapped, and the child's copies, count. */
	ok(!pipe(go));
	child = fork();
	if (!child) {
		ok(read(go[0], in, 1) == 1);
		check(window[0] == ((uint64_t *)out)[0], "the child's mapping");
		_exit(0);
	}
	ok(!munmap((uint8_t *)window + page, page));
	expect_errno(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0), EBUSY);
	ok(!munmap(window, page) && !munmap((uint8_t *)window + 2 * page, page));
	expect_errno(mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0), EBUSY);
	ok(write(go[1], in, 1) == 1);
	wait_child(child);
	check(!listed_as_combined(0), "a range is write-combined without a mapping");
	mapping();
}

int main(void)
{
	fd = open_device();
	memory_end = lseek(fd, 0, SEEK_END);
	check(memory_end >= (1 << 20), "%lld", (long long)memory_end);
	still_works();
	bad_pointers();
	offsets();
	ioctls();
	every_ioctl();
	read_only();
	engine_reset();
	mapping();
	combined();
	finish("errors");
}
