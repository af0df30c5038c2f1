/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The processes that have a card open. */
#ifndef LITEPCIE_UTIL_CARD_USERS_H
#define LITEPCIE_UTIL_CARD_USERS_H

#include <stddef.h>

struct card_user {
	int pid;
	char name[24];
};

/*
 * Fills @users with the other processes that have @device or one of its streams open, as far as
 * this user may see them. Returns their number, at most @most.
 */
size_t card_users(const char *device, struct card_user *users, size_t most);

#endif /* LITEPCIE_UTIL_CARD_USERS_H */
