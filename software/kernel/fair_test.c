// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the order in which open files get an engine.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <kunit/test.h>

#include <linux/kernel.h>
#include <linux/sizes.h>

#include "request.h"

#define FILES	16

/* Open files that always have a next request of the same size. */
static struct litepcie_share shares[FILES];
static u32 sizes[FILES];
static u64 served[FILES];

static void floods_begin(struct litepcie_fair *fair, unsigned int files)
{
	unsigned int i;

	for (i = 0; i < files; i++) {
		shares[i] = (struct litepcie_share) { };
		served[i] = 0;
		litepcie_fair_add(fair, &shares[i], litepcie_fair_cost(sizes[i]));
	}
}

/* Serves one request and returns the number of its file. */
static unsigned int serve(struct litepcie_fair *fair)
{
	unsigned int i = litepcie_fair_first(fair) - shares;
	u32 cost = litepcie_fair_cost(sizes[i]);

	litepcie_fair_serve(fair, &shares[i], cost, cost);
	served[i] += sizes[i];
	return i;
}

static void no_file_is_first_of_none(struct kunit *test)
{
	struct litepcie_fair fair = { };

	KUNIT_EXPECT_TRUE(test, !litepcie_fair_first(&fair));
	sizes[0] = 1;
	floods_begin(&fair, 1);
	KUNIT_EXPECT_TRUE(test, litepcie_fair_first(&fair) == &shares[0]);
	litepcie_fair_serve(&fair, &shares[0], litepcie_fair_cost(1), 0);
	KUNIT_EXPECT_TRUE(test, !litepcie_fair_first(&fair));
}

/* Files with long and with short requests get the same number of bytes. */
static void shares_are_equal_in_bytes(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i;

	for (i = 0; i < FILES; i++)
		sizes[i] = i % 2 ? SZ_1M : SZ_4K;
	floods_begin(&fair, FILES);
	for (i = 0; i < 100000; i++)
		serve(&fair);
	for (i = 1; i < FILES; i++) {
		u64 least = min_t(u64, served[0], served[i]);

		KUNIT_EXPECT_LE(test, served[0] - least, (u64)SZ_1M);
		KUNIT_EXPECT_LE(test, served[i] - least, (u64)SZ_1M);
	}
}

/* Whenever it comes, a byte is the next or next but one beside any number of floods. */
static void a_byte_does_not_wait_for_floods(struct kunit *test)
{
	struct litepcie_share byte = { };
	struct litepcie_fair fair = { };
	unsigned int i, before;
	u32 cost = litepcie_fair_cost(1);

	for (i = 0; i < FILES; i++)
		sizes[i] = SZ_1M;
	floods_begin(&fair, FILES);
	for (i = 0; i < 1000; i++) {
		litepcie_fair_add(&fair, &byte, cost);
		for (before = 0; litepcie_fair_first(&fair) != &byte; before++)
			serve(&fair);
		KUNIT_EXPECT_LE(test, before, 1U);
		litepcie_fair_serve(&fair, &byte, cost, 0);
		serve(&fair);
	}
}

/* Files that are opened anew for each request do not keep another file away. */
static void new_files_do_not_starve_an_old_one(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i, news = 0;

	sizes[0] = SZ_1M;
	floods_begin(&fair, 1);
	for (i = 0; i < 10000; i++) {
		struct litepcie_share fresh = { };

		litepcie_fair_add(&fair, &fresh, SZ_4K);
		if (litepcie_fair_first(&fair) == &fresh) {
			litepcie_fair_serve(&fair, &fresh, SZ_4K, 0);
			news++;
		} else {
			serve(&fair);
			litepcie_fair_drop(&fair, &fresh, SZ_4K, 0);
		}
	}
	KUNIT_EXPECT_TRUE(test, served[0] > 0);
	KUNIT_EXPECT_LE(test, (u64)news * SZ_4K, 3 * served[0] + 3 * SZ_1M);
}

/* What was idle gets no credit, and what was cancelled costs nothing. */
static void only_service_counts(struct kunit *test)
{
	struct litepcie_fair fair = { };
	unsigned int i;

	sizes[0] = SZ_64K;
	sizes[1] = SZ_64K;
	floods_begin(&fair, 2);
	litepcie_fair_drop(&fair, &shares[1], SZ_64K, 0);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, serve(&fair), 0U);
		litepcie_fair_add(&fair, &shares[1], SZ_1M);
		litepcie_fair_drop(&fair, &shares[1], SZ_1M, 0);
	}
	litepcie_fair_add(&fair, &shares[1], SZ_64K);
	served[0] = 0;
	for (i = 0; i < 100; i++)
		serve(&fair);
	KUNIT_EXPECT_LE(test, served[1], served[0] + SZ_64K);
	KUNIT_EXPECT_LE(test, served[0], served[1] + SZ_64K);
}

/* One short request at a time gains nothing over a long queue. */
static void one_at_a_time_is_no_advantage(struct kunit *test)
{
	struct litepcie_share one = { };
	struct litepcie_fair fair = { };
	unsigned int i;
	u64 bytes = 0;

	sizes[0] = SZ_1M;
	floods_begin(&fair, 1);
	for (i = 0; i < 100000; i++) {
		litepcie_fair_add(&fair, &one, SZ_4K);
		while (litepcie_fair_first(&fair) != &one)
			serve(&fair);
		litepcie_fair_serve(&fair, &one, SZ_4K, 0);
		bytes += SZ_4K;
	}
	KUNIT_EXPECT_LE(test, bytes, served[0] + SZ_1M);
	KUNIT_EXPECT_LE(test, served[0], bytes + SZ_1M);
}

static struct kunit_case litepcie_fair_cases[] = {
	KUNIT_CASE(no_file_is_first_of_none),
	KUNIT_CASE(shares_are_equal_in_bytes),
	KUNIT_CASE(a_byte_does_not_wait_for_floods),
	KUNIT_CASE(new_files_do_not_starve_an_old_one),
	KUNIT_CASE(only_service_counts),
	KUNIT_CASE(one_at_a_time_is_no_advantage),
	{ }
};

static struct kunit_suite litepcie_fair_suite = {
	.name = "litepcie-fair",
	.test_cases = litepcie_fair_cases,
};

kunit_test_suite(litepcie_fair_suite);
