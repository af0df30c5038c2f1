/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * The parts of KUnit that the driver's tests use, for a user-space program: the
 * suite runs without a kernel. Exits with 1 if an expectation failed.
 */
#ifndef LITEPCIE_SHIM_KUNIT_H
#define LITEPCIE_SHIM_KUNIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kunit {
	const char *name;
	void *priv;
	int failures;
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(function) { function, #function }

#define KUNIT_FAILED(test, text)                                               \
	(fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, (test)->name,  \
		 text), (test)->failures++)
#define KUNIT_EXPECT_TRUE(test, condition)                                     \
	((condition) ? 0 : KUNIT_FAILED(test, #condition))
#define KUNIT_EXPECT_FALSE(test, condition) KUNIT_EXPECT_TRUE(test, !(condition))
#define KUNIT_COMPARE(test, a, op, b)                                           \
	({                                                                     \
		__typeof__((a) + 0) left_ = (a);                                \
		__typeof__((b) + 0) right_ = (b);                               \
									       \
		left_ op right_ ? 0 :                                            \
			(fprintf(stderr, "%s:%d: %s: expected %s " #op " %s, " \
				 "found %lld and %lld\n", __FILE__, __LINE__,   \
				 (test)->name, #a, #b, (long long)left_,        \
				 (long long)right_), (test)->failures++);       \
	})
#define KUNIT_EXPECT_EQ(test, a, b) KUNIT_COMPARE(test, a, ==, b)
#define KUNIT_EXPECT_LE(test, a, b) KUNIT_COMPARE(test, a, <=, b)
#define KUNIT_EXPECT_LT(test, a, b) KUNIT_COMPARE(test, a, <, b)
#define KUNIT_EXPECT_STREQ(test, a, b) KUNIT_EXPECT_TRUE(test, !strcmp(a, b))
#define KUNIT_ASSERT_TRUE(test, condition)                                     \
	do {                                                                   \
		if (!(condition)) {                                            \
			KUNIT_FAILED(test, #condition);                        \
			exit(1);                                               \
		}                                                              \
	} while (0)

#define KUNIT_ASSERT_FALSE(test, condition) KUNIT_ASSERT_TRUE(test, !(condition))

#define kunit_test_suite(suite)                                                \
	int main(void)                                                         \
	{                                                                      \
		int failures = 0;                                              \
									       \
		for (struct kunit_case *c = (suite).test_cases; c->run; c++) { \
			struct kunit test = { .name = c->name };               \
									       \
			c->run(&test);                                         \
			if ((suite).exit)                                      \
				(suite).exit(&test);                           \
			printf("%s %s\n", test.failures ? "not ok" : "ok",     \
			       c->name);                                       \
			failures += test.failures;                             \
		}                                                              \
		return !!failures;                                             \
	}                                                                      \
	struct kunit_suite_end

#endif
