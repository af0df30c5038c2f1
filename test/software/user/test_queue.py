# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Asynchronous transfers and the registers of the user, on the mock card: a file that io_uring or aio reads."""

import errno
import re
import subprocess

import pytest

from test.software.user.conftest import ROOT, compiled, of_build, user_bus

# The kernel answers io_uring_setup() with the error FORBID, as a container's filter does.
FORBID = r"""
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

__attribute__((constructor)) static void forbid(void)
{
	unsigned int err = strtoul(getenv("FORBID"), NULL, 10);
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, lines };

	assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}
"""

QUEUE = r"""
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <liblitepcie.h>

#define DEPTH 4
#define BYTES 5000

static int readable(struct litepcie_queue *queue, int timeout)
{
	struct pollfd fd = { litepcie_queue_fd(queue), POLLIN, 0 };

	return poll(&fd, 1, timeout);
}

int main(void)
{
	static unsigned char out[DEPTH][BYTES], in[DEPTH][BYTES], other[BYTES];
	struct iovec known = { in, sizeof(in) };
	struct litepcie_done done[2 * DEPTH];
	struct litepcie_queue *queue;
	struct litepcie *card;
	unsigned int seen = 0, i;
	char path[40], kind[40] = "";
	int n;

	assert(litepcie_open_index(&card, 0) == 0);
	assert(litepcie_queue_open(&queue, card, 0) == -EINVAL && !queue);
	assert(litepcie_queue_open(&queue, card, LITEPCIE_QUEUE_MOST + 1) == -EINVAL && !queue);
	assert(litepcie_queue_open(&queue, card, DEPTH) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", litepcie_queue_fd(queue));
	assert(readlink(path, kind, sizeof(kind) - 1) > 0);
	puts(kind);
	assert(litepcie_queue_wait(queue, done, 1, -1) == 0 && readable(queue, 0) == 0);
	assert(litepcie_queue_register(queue, &known, 0) == -EINVAL);
	assert(litepcie_queue_register(queue, &known, 1) == 0);
	assert(litepcie_queue_register(queue, &known, 1) == -EBUSY);

	/* Until the queue is full; a byte outside the registered buffer is no difference. */
	for (i = 0; i < DEPTH; i++) {
		memset(out[i], 1 + i, BYTES);
		assert(litepcie_queue_write(queue, out[i], BYTES, 11 + i * BYTES, 100 + i) == 0);
	}
	assert(litepcie_queue_in_flight(queue) == DEPTH);
	assert(litepcie_queue_write(queue, out[0], BYTES, 0, 0) == -EAGAIN);
	while (litepcie_queue_in_flight(queue)) {
		n = litepcie_queue_wait(queue, done, 3, -1);
		assert(n > 0 && n <= 3);
		for (i = 0; i < (unsigned int)n; i++) {
			assert(done[i].result == BYTES && done[i].tag - 100 < DEPTH);
			seen |= 1 << (done[i].tag - 100);
		}
	}
	assert(seen == (1 << DEPTH) - 1);

	for (i = 0; i < DEPTH; i++)
		assert(litepcie_queue_read(queue, i ? in[i] : other, BYTES, 11 + i * BYTES, i) == 0);
	while (litepcie_queue_in_flight(queue))
		assert(litepcie_queue_wait(queue, done, 2 * DEPTH, 1000) > 0 && done[0].result == BYTES);
	assert(!memcmp(other, out[0], BYTES) && !memcmp(in[1], out[1], (DEPTH - 1) * BYTES));

	/* The descriptor is readable until the last result is taken. */
	for (i = 0; i < DEPTH; i++)
		assert(litepcie_queue_read(queue, in[i], BYTES, 0, i) == 0);
	for (i = 0; i < DEPTH; i++) {
		assert(readable(queue, 1000) == 1 && litepcie_queue_poll(queue, done, 0) == 0);
		assert(readable(queue, 0) == 1 && litepcie_queue_poll(queue, done, 1) == 1);
	}
	assert(readable(queue, 0) == 0 && litepcie_queue_poll(queue, done, 1) == 0);

	/* The end of the memory; errors are results. */
	assert(litepcie_queue_read(queue, in, 100, (1 << 20) - 30, 7) == 0);
	assert(litepcie_queue_wait(queue, done, 1, -1) == 1 && done[0].tag == 7 && done[0].result == 30);
	assert(litepcie_queue_read(queue, (void *)8, 100, 0, 8) == 0);
	assert(litepcie_queue_wait(queue, done, 1, -1) == 1 && done[0].result == -EFAULT);
	assert(litepcie_queue_poll(queue, done, 1) == 0);
	assert(litepcie_queue_read(queue, in, 0, 0, 0) == -EINVAL);
	assert(litepcie_queue_read(queue, in, (1u << 30) + 1, 0, 0) == -EINVAL);
	assert(litepcie_queue_read(queue, in, 1, 1ull << 63, 0) == -EINVAL);

	/* close() waits for what is in flight. */
	assert(litepcie_queue_write(queue, "last", 4, 0, 0) == 0);
	litepcie_queue_close(queue);
	litepcie_queue_close(NULL);
	assert(litepcie_pread(card, in, 4, 0) == 4 && !memcmp(in, "last", 4));
	litepcie_close(card);
	return 0;
}
"""

USER = r"""
#include <assert.h>
#include <errno.h>
#include <liblitepcie.h>

int main(void)
{
	struct litepcie_user *user;
	uint32_t words[3] = { 1, 2, 0xdeadbeef }, back[3];

	assert(litepcie_user_open(&user, "/dev/null") == -ENOTTY && !user);
	assert(litepcie_user_open(&user, "/dev/litepcie1_user") == -ENOENT && !user);
	assert(litepcie_user_open(&user, "/dev/litepcie0_user") == 0);
	assert(litepcie_user_origin(user) == 0x30000000);
	assert(litepcie_user_write(user, 0x30000008, words, 3) == 0);
	assert(litepcie_user_read(user, 0x3000000c, back, 2) == 0);
	assert(back[0] == 2 && back[1] == 0xdeadbeef);
	assert(litepcie_user_read(user, 0x2ffffffc, back, 1) == -ERANGE);
	assert(litepcie_user_read(user, 0x30001000, back, 1) == -ERANGE);
	litepcie_user_close(user);
	litepcie_user_close(NULL);
	return 0;
}
"""


def run(card, build, folder, text, **settings):
    return subprocess.run([compiled(folder, text, *of_build(build))], env=card.environment(**settings),
        capture_output=True, text=True)


def allowed(monkeypatch, forbid):
    """The descriptor of a queue; `forbid` is None or the error of io_uring_setup()."""
    if forbid is None:
        return "anon_inode:[io_uring]"
    monkeypatch.setenv("FORBID", str(forbid))
    return "anon_inode:[eventfd]"


KINDS = pytest.mark.parametrize("forbid", [None, errno.EPERM, errno.ENOSYS], ids=["io_uring", "EPERM", "ENOSYS"])


@KINDS
def test_asynchronous_transfers(card, build, tmp_path, monkeypatch, forbid):
    kind   = allowed(monkeypatch, forbid)
    result = run(card, build, tmp_path, FORBID*(forbid is not None) + QUEUE)
    if forbid is None and result.stdout == "anon_inode:[eventfd]\n":
        pytest.skip("this machine does not allow io_uring")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{kind}\n", "")


@KINDS
def test_the_example_of_the_documentation(card, build, tmp_path, monkeypatch, forbid):
    """It says that what came back is equal, and finds a difference."""
    program, = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)
    allowed(monkeypatch, forbid)
    program  = FORBID*(forbid is not None) + program
    result   = run(card, build, tmp_path, program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "equal\n", "")
    wrong = program.replace("litepcie_queue_write(queue, data + at", "litepcie_queue_write(queue, data")
    assert run(card, build, tmp_path, wrong).stdout == "different\n"


def test_registers_of_the_user(card, build, tmp_path):
    result = run(card, build, tmp_path, USER, **user_bus(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "user").read_bytes()[8:20] == bytes.fromhex("0100000002000000efbeadde")
