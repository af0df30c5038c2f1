/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * Read before each file of the checkout, and in cases.cpp: two settings of the model that have no option.
 */
#include "pcie.h"

/*
 * The model goes on sending InitFC2 until one of the other side comes after its own fourth set. The other side sends
 * none after the first (PCIe 2.1 3.3.1).
 */
#undef FC_INIT_SENT_MIN
#define FC_INIT_SENT_MIN 0

/* Errors that it finds end the case; the rest of what it says is dropped. */
#undef VPrint
#define VPrint(...) model_says(__VA_ARGS__)

#ifdef __cplusplus
extern "C"
#endif
    int
    model_says(const char *format, ...);
