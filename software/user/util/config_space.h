/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * The configuration space of a PCI function as tables: PCI Local Bus 3.0 chapter 6, PCI Express
 * Base 5.0 chapter 7.
 */
#ifndef LITEPCIE_UTIL_CONFIG_SPACE_H
#define LITEPCIE_UTIL_CONFIG_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_BYTES	4096
#define CONFIG_HEADER	64 /* bytes that every user can read */
#define CONFIG_ORDINARY 256

struct config_space {
	uint8_t bytes[CONFIG_BYTES];
	size_t readable;
};

/* Instead of a list of values: how a number is shown. One bit without a list is yes or no. */
extern const char config_hex[], config_plus_one[], config_times_8[], config_speeds[];

struct config_field {
	uint8_t high, low;  /* bits */
	const char *name;   /* NULL: end of the table */
	const char *values; /* "of 0|of 1|...", one of the above, or NULL: decimal */
};

struct config_register {
	uint16_t offset; /* from the block */
	uint8_t bytes;	 /* 1, 2 or 4; 0: end of the table */
	const char *name;
	const struct config_field *fields; /* NULL: none */
	/* NULL: always there. @base is the offset of the block. */
	bool (*present)(const struct config_space *space, unsigned int base,
			const struct config_register *which);
};

/* The header, or a capability. */
struct config_block {
	uint16_t id; /* of a capability */
	const char *name;
	const struct config_register *registers; /* NULL: only its bytes are shown */
};

/* The tables of the header; of capabilities, which end with a NULL name. */
extern const struct config_block config_type0, config_type1;
extern const struct config_block config_capabilities[], config_extended[];
extern const struct config_register config_express[];
extern const struct config_register config_vc[], config_sriov[], config_resizable[], config_dpc[];

#define FLAG(bit, name)              \
	{                            \
		bit, bit, name, NULL \
	}
#define NUMBER(high, low, name)       \
	{                             \
		high, low, name, NULL \
	}
#define HEX(high, low, name)                \
	{                                   \
		high, low, name, config_hex \
	}
#define CHOICE(high, low, name, values) \
	{                               \
		high, low, name, values \
	}
#define REGISTER(offset, bytes, name, f)     \
	{                                    \
		offset, bytes, name, f, NULL \
	}

/*
 * Reads @size bytes at the PCI address @address from sysfs. Returns 0 or a negative errno; fewer
 * than all bytes are success.
 */
int config_read(struct config_space *space, const char *address);

/* The value of 1, 2 or 4 bytes; 0 where nothing is readable. */
uint32_t config_get(const struct config_space *space, unsigned int offset, unsigned int bytes);

/* The bits of @field in @value. */
uint32_t config_bits(const struct config_field *field, uint32_t value);

/* "3: 1024 bytes", "yes", "0x1f" */
void config_meaning(const struct config_field *field, uint32_t value, char *text, size_t size);

/* What a walk meets, in the order of the chains. A member that is NULL is not called. */
struct config_visitor {
	void (*block)(void *context, const char *name, unsigned int offset);
	void (*end)(void *context);
	void (*one)(void *context, const struct config_register *which, unsigned int offset,
		    uint32_t value);
	void (*fault)(void *context, const char *what, unsigned int offset);
};

void config_walk(const struct config_space *space, const struct config_visitor *visitor,
		 void *context);

#endif /* LITEPCIE_UTIL_CONFIG_SPACE_H */
