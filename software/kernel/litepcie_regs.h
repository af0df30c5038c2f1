/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pinned register map of LitePCIe SoC 1.x, emitted by the gateware. Do not edit:
 * `python3 -m litepcie_soc.soc.regs --write` renews it, `make check` compares it.
 *
 * Byte offsets in BAR0; every register is 32 bits wide.
 */
#ifndef _LITEPCIE_REGS_H
#define _LITEPCIE_REGS_H

/* identity: what the card is */
#define LITEPCIE_MAGIC				0x0000
#define LITEPCIE_MAGIC_VALUE			0x4c504953
#define LITEPCIE_VERSION			0x0004
#define LITEPCIE_VERSION_MAJOR			1
#define LITEPCIE_VERSION_MINOR			0
#define LITEPCIE_VERSION_MAJOR_MASK		0xffff0000
#define LITEPCIE_VERSION_MINOR_MASK		0x0000ffff
#define LITEPCIE_CAPABILITIES			0x0008
#define LITEPCIE_CAPABILITY_READER		0x00000001
#define LITEPCIE_CAPABILITY_WRITER		0x00000002
#define LITEPCIE_CAPABILITY_MSI			0x00000004
#define LITEPCIE_CAPABILITY_LINK		0x00000008
#define LITEPCIE_CAPABILITY_WINDOW		0x00000010
#define LITEPCIE_GEOMETRY			0x000c
#define LITEPCIE_GEOMETRY_CHANNELS_MASK		0x000000ff
#define LITEPCIE_GEOMETRY_WIDTH_MASK		0x0000ff00	/* data path, dwords */
#define LITEPCIE_GEOMETRY_RING_LOG2_MASK	0x00ff0000	/* largest ring */
#define LITEPCIE_GEOMETRY_TAGS_MASK		0xff000000	/* tags - 1 */
#define LITEPCIE_MEMORY_SIZE_LO			0x0010
#define LITEPCIE_MEMORY_SIZE_HI			0x0014
#define LITEPCIE_WINDOW_OFFSET			0x0018
#define LITEPCIE_WINDOW_SIZE			0x001c
#define LITEPCIE_CLOCK_HZ			0x0020
#define LITEPCIE_BUILT_LINK			0x0024
#define LITEPCIE_BUILT_LINK_GEN_MASK		0x0000000f
#define LITEPCIE_BUILT_LINK_LANES_MASK		0x00003f00
#define LITEPCIE_SCRATCH			0x0028
#define LITEPCIE_CONTROL			0x002c
#define LITEPCIE_CONTROL_RESET			0x00000001	/* every engine, as by its own RESET */
#define LITEPCIE_TIMEOUT_US			0x0030
#define LITEPCIE_LINK_SIZES			0x0034
#define LITEPCIE_LINK_SIZES_MPS_MASK		0x0000ffff	/* bytes */
#define LITEPCIE_LINK_SIZES_MRRS_MASK		0xffff0000	/* bytes */
#define LITEPCIE_LINK_STATUS			0x0038
#define LITEPCIE_LINK_STATUS_UP			0x00000001
#define LITEPCIE_LINK_STATUS_BUS_MASTER		0x00000002
#define LITEPCIE_LINK_STATUS_EXTENDED_TAG	0x00000004
#define LITEPCIE_LINK_STATUS_MSI		0x00000008
#define LITEPCIE_TARGET				0x0040	/* 16 registers, ASCII, first character lowest */
#define LITEPCIE_TARGET_BYTES			64

/* transaction layer: errors seen since reset */
#define LITEPCIE_ERROR_UNSUPPORTED_REQUEST	0x0800
#define LITEPCIE_ERROR_COMPLETER_ABORT		0x0804
#define LITEPCIE_ERROR_POISONED			0x0808
#define LITEPCIE_ERROR_UNEXPECTED		0x080c
#define LITEPCIE_ERROR_TIMEOUT			0x0810
#define LITEPCIE_ERROR_BAD_LENGTH		0x0814
#define LITEPCIE_ERROR_REFUSED			0x0818

/* DMA engines: reader of channel c at READER(c), writer at WRITER(c) */
#define LITEPCIE_READER_BASE(c)			(0x1000 + 0x1000 * (c))
#define LITEPCIE_WRITER_BASE(c)			(0x1800 + 0x1000 * (c))
#define LITEPCIE_ENGINE_CONTROL			0x00
#define LITEPCIE_ENGINE_CONTROL_ENABLE		0x00000001
#define LITEPCIE_ENGINE_CONTROL_RESET		0x00000002	/* clears itself when drained */
#define LITEPCIE_ENGINE_STATUS			0x04
#define LITEPCIE_ENGINE_STATUS_RUNNING		0x00000001	/* enabled, not stopped */
#define LITEPCIE_ENGINE_STATUS_IDLE		0x00000002	/* nothing to do, nothing outstanding */
#define LITEPCIE_ENGINE_STATUS_STOPPED		0x00000004	/* by an error; see REASON */
#define LITEPCIE_ENGINE_STATUS_RESETTING	0x00000008
#define LITEPCIE_ENGINE_STATUS_REASON_MASK	0x0000ff00
#define LITEPCIE_ENGINE_RING_LO			0x08
#define LITEPCIE_ENGINE_RING_HI			0x0c
#define LITEPCIE_ENGINE_RING_LOG2		0x10
#define LITEPCIE_ENGINE_STATUS_ADDRESS_LO	0x14
#define LITEPCIE_ENGINE_STATUS_ADDRESS_HI	0x18
#define LITEPCIE_ENGINE_DOORBELL		0x1c
#define LITEPCIE_ENGINE_COMPLETED		0x20
#define LITEPCIE_ENGINE_MODERATION		0x24
#define LITEPCIE_ENGINE_MODERATION_COUNT_MASK	0x0000ffff
#define LITEPCIE_ENGINE_MODERATION_US_MASK	0xffff0000
#define LITEPCIE_ENGINE_STOPPED_BYTES		0x28
#define LITEPCIE_ENGINE_ACTIVE_LO		0x40	/* reading LO holds HI */
#define LITEPCIE_ENGINE_ACTIVE_HI		0x44
#define LITEPCIE_ENGINE_BYTES_LO		0x48
#define LITEPCIE_ENGINE_BYTES_HI		0x4c
#define LITEPCIE_ENGINE_DESCRIPTORS		0x50
#define LITEPCIE_ENGINE_TLPS			0x54
#define LITEPCIE_ENGINE_WAIT_DESCRIPTOR		0x58
#define LITEPCIE_ENGINE_WAIT_TAG		0x5c
#define LITEPCIE_ENGINE_WAIT_LINK		0x60
#define LITEPCIE_ENGINE_WAIT_DATA		0x64

/* reasons in ENGINE_STATUS and in the status block */
#define LITEPCIE_REASON_NONE			0
#define LITEPCIE_REASON_UNSUPPORTED_REQUEST	1
#define LITEPCIE_REASON_COMPLETER_ABORT		2
#define LITEPCIE_REASON_POISONED		3
#define LITEPCIE_REASON_TIMEOUT			4
#define LITEPCIE_REASON_BAD_LENGTH		5	/* completion byte count or address */
#define LITEPCIE_REASON_ZERO_LENGTH		6	/* descriptor of length 0 */
#define LITEPCIE_REASON_MEMORY_RANGE		7	/* past the endpoint memory */
#define LITEPCIE_REASON_BAD_LINK		8	/* to itself, empty or not aligned */
#define LITEPCIE_REASON_DOORBELL		9	/* past the ring */
#define LITEPCIE_REASON_BAD_RING		10	/* ring or status block not aligned, size */
#define LITEPCIE_REASON_BUS_MASTER		11	/* bus mastering off */

/* descriptor: four little-endian dwords in host memory */
#define LITEPCIE_DESCRIPTOR_BYTES		16
#define LITEPCIE_DESCRIPTOR_LENGTH_MASK		0x00ffffff	/* dword 0: bytes; descriptors if LINK */
#define LITEPCIE_DESCRIPTOR_INTERRUPT		0x01000000	/* status write-back and MSI when done */
#define LITEPCIE_DESCRIPTOR_LINK		0x80000000	/* dwords 2, 3: address of a table */
/* dword 1: endpoint byte address; dwords 2, 3: host byte address, low and high */

/* status block: four little-endian dwords in host memory, one write of the card */
#define LITEPCIE_STATUS_BYTES			16
#define LITEPCIE_STATUS_COMPLETED		0	/* dword 0: ring descriptors done */
#define LITEPCIE_STATUS_REASON			1	/* dword 1: [7:0] reason, [31:8] STOPPED_BYTES */
#define LITEPCIE_STATUS_BYTES_LO		2	/* dwords 2, 3: bytes done since reset */
#define LITEPCIE_STATUS_BYTES_HI		3

#endif /* _LITEPCIE_REGS_H */
