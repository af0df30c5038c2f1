/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pinned register map of LitePCIe SoC 1.x, emitted by the gateware. Do not edit:
 * `python3 -m litepcie_soc.build.regs --write` updates it, `make check` compares it.
 *
 * Byte offsets in BAR0; every register is 32 bits wide.
 */
#ifndef _LITEPCIE_REGS_H
#define _LITEPCIE_REGS_H

/* identity of the card */
#define LITEPCIE_MAGIC				0x0000	/* reads as MAGIC_VALUE */
#define LITEPCIE_MAGIC_VALUE			0x4c504953
#define LITEPCIE_VERSION			0x0004	/* version of this map */
#define LITEPCIE_VERSION_MAJOR			1
#define LITEPCIE_VERSION_MINOR			8
#define LITEPCIE_VERSION_MINOR_MASK		0x0000ffff
#define LITEPCIE_VERSION_MAJOR_MASK		0xffff0000
#define LITEPCIE_CAPABILITIES			0x0008	/* parts that the card has */
#define LITEPCIE_CAPABILITY_READER		0x00000001
#define LITEPCIE_CAPABILITY_WRITER		0x00000002
#define LITEPCIE_CAPABILITY_MSI			0x00000004
#define LITEPCIE_CAPABILITY_LINK		0x00000008
#define LITEPCIE_CAPABILITY_WINDOW		0x00000010
#define LITEPCIE_CAPABILITY_STREAM		0x00000020
#define LITEPCIE_CAPABILITY_DIRECT		0x00000040	/* registers DIRECT* */
#define LITEPCIE_CAPABILITY_MSIX		0x00000080
#define LITEPCIE_CAPABILITY_USER		0x00000100	/* registers USER_* */
/* registers INTERRUPT_*, of the user's logic */
#define LITEPCIE_CAPABILITY_INTERRUPT		0x00000200
/* registers HOST_*, of the user's logic */
#define LITEPCIE_CAPABILITY_HOST		0x00000400
/* state of the lane, behind the user's bus */
#define LITEPCIE_CAPABILITY_LANE		0x00000800
#define LITEPCIE_GEOMETRY			0x000c	/* size of the design */
#define LITEPCIE_GEOMETRY_CHANNELS_MASK		0x000000ff	/* memory channels */
#define LITEPCIE_GEOMETRY_WIDTH_MASK		0x0000ff00	/* width of the data path, dwords */
#define LITEPCIE_GEOMETRY_RING_LOG2_MASK	0x00ff0000	/* log2 of the largest ring */
#define LITEPCIE_GEOMETRY_TAGS_MASK		0xff000000	/* tags - 1 */
#define LITEPCIE_MEMORY_SIZE_LO			0x0010	/* endpoint memory, low half */
#define LITEPCIE_MEMORY_SIZE_HI			0x0014	/* endpoint memory, high half */
#define LITEPCIE_WINDOW_OFFSET			0x0018	/* offset of the window in BAR0 */
#define LITEPCIE_WINDOW_SIZE			0x001c	/* bytes of the window */
#define LITEPCIE_CLOCK_HZ			0x0020	/* clock of data path and counters */
#define LITEPCIE_BUILT_LINK			0x0024	/* link it was built for */
#define LITEPCIE_BUILT_LINK_GEN_MASK		0x0000000f
#define LITEPCIE_BUILT_LINK_LANES_MASK		0x00003f00
#define LITEPCIE_SCRATCH			0x0028	/* reads as written */
#define LITEPCIE_CONTROL			0x002c	/* control of all engines */
#define LITEPCIE_CONTROL_RESET			0x00000001	/* RESET of every engine */
#define LITEPCIE_TIMEOUT_US			0x0030	/* completion timeout */
#define LITEPCIE_LINK_SIZES			0x0034	/* sizes in force */
#define LITEPCIE_LINK_SIZES_MPS_MASK		0x0000ffff	/* bytes */
#define LITEPCIE_LINK_SIZES_MRRS_MASK		0xffff0000	/* bytes */
#define LITEPCIE_LINK_STATUS			0x0038	/* state of the link */
#define LITEPCIE_LINK_STATUS_UP			0x00000001
#define LITEPCIE_LINK_STATUS_BUS_MASTER		0x00000002
#define LITEPCIE_LINK_STATUS_EXTENDED_TAG	0x00000004
#define LITEPCIE_LINK_STATUS_MSI		0x00000008
#define LITEPCIE_STREAMS			0x003c	/* stream channels, after memory channels */
#define LITEPCIE_STREAMS_COUNT_MASK		0x000000ff
#define LITEPCIE_STREAMS_NO_READER_MASK		0x00007f00	/* streams without a reader */
#define LITEPCIE_STREAMS_NO_WRITER_MASK		0x007f0000	/* streams without a writer */
/* name of the bitstream: 16 registers, ASCII, first character lowest */
#define LITEPCIE_TARGET				0x0040
#define LITEPCIE_TARGET_BYTES			64
#define LITEPCIE_USER_OFFSET			0x0080	/* offset of the user's bus in BAR0 */
/* bytes of the user's bus that the host reaches; 0: none */
#define LITEPCIE_USER_SIZE			0x0084
#define LITEPCIE_USER_ORIGIN			0x0088	/* address of the first one on that bus */
/* accesses to the user's bus that failed, modulo 2^32 */
#define LITEPCIE_USER_ERRORS			0x008c
/* bytes of the memory's bus whose training failed, one bit each */
#define LITEPCIE_MEMORY_FAILED			0x0090
#define LITEPCIE_PHY_STATE			0x0094	/* state of the hard block */
#define LITEPCIE_PHY_STATE_LTSSM_MASK		0x0000003f	/* as its guide numbers it */
#define LITEPCIE_PHY_STATE_KNOWN		0x80000000	/* the PHY tells its state */

/* transaction layer: error counters since reset */
/* completions with Unsupported Request. Stops at 65535 */
#define LITEPCIE_ERROR_UNSUPPORTED_REQUEST	0x0800
/* completions with Completer Abort. Stops at 65535 */
#define LITEPCIE_ERROR_COMPLETER_ABORT		0x0804
/* completions with poisoned data. Stops at 65535 */
#define LITEPCIE_ERROR_POISONED			0x0808
/* completions without an outstanding request: late, duplicate or misrouted. Stops at 65535 */
#define LITEPCIE_ERROR_UNEXPECTED		0x080c
/* requests that the host did not complete in time. Stops at 65535 */
#define LITEPCIE_ERROR_TIMEOUT			0x0810
/* completions whose byte count, lower address or length is not the expected one. Stops at 65535 */
#define LITEPCIE_ERROR_BAD_LENGTH		0x0814
/* requests of the host completed with Unsupported Request, or dropped. Stops at 65535 */
#define LITEPCIE_ERROR_REFUSED			0x0818

/* DMA engines: reader of channel c at READER(c), writer at WRITER(c) */
#define LITEPCIE_READER_BASE(c)			(0x1000 + 0x1000 * (c))
#define LITEPCIE_WRITER_BASE(c)			(0x1800 + 0x1000 * (c))
#define LITEPCIE_MAX_CHANNELS			7	/* memory and stream channels together */
#define LITEPCIE_MAX_RING_LOG2			12	/* log2 of the largest ring */
#define LITEPCIE_ENGINE_CONTROL			0x00	/* control of the engine; 0 after a reset */
/* run; 0 pauses after the current descriptor */
#define LITEPCIE_ENGINE_CONTROL_ENABLE		0x00000001
/* drain, then clear the ring position and all state; clears itself when done */
#define LITEPCIE_ENGINE_CONTROL_RESET		0x00000002
#define LITEPCIE_ENGINE_STATUS			0x04	/* state of the engine */
#define LITEPCIE_ENGINE_STATUS_RUNNING		0x00000001	/* enabled and not stopped */
#define LITEPCIE_ENGINE_STATUS_IDLE		0x00000002	/* no work, nothing outstanding */
/* stopped by an error; see reason */
#define LITEPCIE_ENGINE_STATUS_STOPPED		0x00000004
#define LITEPCIE_ENGINE_STATUS_RESETTING	0x00000008	/* a reset is in progress */
#define LITEPCIE_ENGINE_STATUS_REASON_MASK	0x0000ff00	/* why it stopped, REASON_* */
/* host address of the descriptor ring, low half; write it while not enabled */
#define LITEPCIE_ENGINE_RING_LO			0x08
/* host address of the descriptor ring, high half */
#define LITEPCIE_ENGINE_RING_HI			0x0c
#define LITEPCIE_ENGINE_RING_LOG2		0x10	/* log2 of the ring size, 1..12 */
/* host address of the status block, low half; a multiple of 16 */
#define LITEPCIE_ENGINE_STATUS_ADDRESS_LO	0x14
/* host address of the status block, high half */
#define LITEPCIE_ENGINE_STATUS_ADDRESS_HI	0x18
/* number of descriptors ever made available, modulo 2^32; a write starts them */
#define LITEPCIE_ENGINE_DOORBELL		0x1c
#define LITEPCIE_ENGINE_COMPLETED		0x20	/* ring descriptors completed since reset */
/* MSI moderation, whichever limit comes first; 0 in either: no delay */
#define LITEPCIE_ENGINE_MODERATION		0x24
/* most interrupts combined into one MSI */
#define LITEPCIE_ENGINE_MODERATION_COUNT_MASK	0x0000ffff
/* most microseconds an interrupt is delayed */
#define LITEPCIE_ENGINE_MODERATION_US_MASK	0xffff0000
/* bytes of the failing descriptor that landed without a gap */
#define LITEPCIE_ENGINE_STOPPED_BYTES		0x28
/* dword 0 of the next descriptor; see DIRECT_DOORBELL. Bits 30:26: its count modulo 32 */
#define LITEPCIE_ENGINE_DIRECT0			0x2c
/* dword 1 of the next descriptor; see DIRECT_DOORBELL */
#define LITEPCIE_ENGINE_DIRECT1			0x30
/* dword 2 of the next descriptor; see DIRECT_DOORBELL */
#define LITEPCIE_ENGINE_DIRECT2			0x34
/* dword 3 of the next descriptor; see DIRECT_DOORBELL */
#define LITEPCIE_ENGINE_DIRECT3			0x38
/* as DOORBELL; the engine need not fetch the descriptor in DIRECT0 to DIRECT3 */
#define LITEPCIE_ENGINE_DIRECT_DOORBELL		0x3c
/* cycles with work, low half; latches high */
#define LITEPCIE_ENGINE_ACTIVE_LO		0x40
#define LITEPCIE_ENGINE_ACTIVE_HI		0x44	/* cycles with work, latched high half */
#define LITEPCIE_ENGINE_BYTES_LO		0x48	/* bytes landed, low half; latches high */
#define LITEPCIE_ENGINE_BYTES_HI		0x4c	/* bytes landed, latched high half */
#define LITEPCIE_ENGINE_DESCRIPTORS		0x50	/* descriptors done, also in tables */
#define LITEPCIE_ENGINE_TLPS			0x54	/* data TLPs: read requests or writes */
#define LITEPCIE_ENGINE_WAIT_DESCRIPTOR		0x58	/* active cycles waiting for descriptors */
#define LITEPCIE_ENGINE_WAIT_TAG		0x5c	/* active cycles waiting for tags or room */
#define LITEPCIE_ENGINE_WAIT_LINK		0x60	/* active cycles waiting for the link */
/* active cycles waiting for data or memory */
#define LITEPCIE_ENGINE_WAIT_DATA		0x64
/* stream writer: microseconds after which a buffer with data is completed; 0: never */
#define LITEPCIE_ENGINE_FLUSH_US		0x68
#define LITEPCIE_ENGINE_INTERRUPT		0x6c	/* vector, and what ends moderation */
/* of the interrupts of this engine */
#define LITEPCIE_ENGINE_INTERRUPT_VECTOR_MASK	0x0000001f
/* an engine that runs out of descriptors sends the MSI without moderation */
#define LITEPCIE_ENGINE_INTERRUPT_IDLE		0x00000100
/* stream: bytes between its RAM and the user, modulo 2^32; never reset */
#define LITEPCIE_ENGINE_PASSED			0x70

/* interrupts of the user's logic, where CAPABILITIES has them; bit n belongs to interrupt n */
#define LITEPCIE_MAX_INTERRUPTS			16
#define LITEPCIE_INTERRUPT_COUNT		0x8000	/* number of the user's interrupts */
#define LITEPCIE_INTERRUPT_PULSE		0x8004	/* 1: latches pulses. 0: follows a level */
#define LITEPCIE_INTERRUPT_VECTOR		0x8008	/* vectors */
#define LITEPCIE_INTERRUPT_VECTOR_FIRST_MASK	0x000000ff	/* vector of interrupt 0 */
/* interrupt n has vector FIRST + n, not FIRST */
#define LITEPCIE_INTERRUPT_VECTOR_EACH		0x00000100
#define LITEPCIE_INTERRUPT_ARM			0x800c	/* write 1: arm, and forget FIRED */
#define LITEPCIE_INTERRUPT_DISARM		0x8010	/* write 1: disarm, and forget FIRED */
#define LITEPCIE_INTERRUPT_FORGET		0x8014	/* write 1: forget a latched pulse */
/* sends a message when pending, then is disarmed */
#define LITEPCIE_INTERRUPT_ARMED		0x8018
#define LITEPCIE_INTERRUPT_PENDING		0x801c	/* level is high, or a pulse is latched */
#define LITEPCIE_INTERRUPT_FIRED		0x8020	/* sent its message since it was armed */
/* ASCII, first character lowest */
#define LITEPCIE_INTERRUPT_NAME(n)		(0x8024 + 0x10 * (n))
#define LITEPCIE_INTERRUPT_NAME_BYTES		16

/* buffers in host memory that the user's logic accesses, where CAPABILITIES has them */
#define LITEPCIE_MAX_HOST_BUFFERS		16
/* number of buffers that the card can have */
#define LITEPCIE_HOST_COUNT			0x8800
/* bytes of the largest; buffer n begins at n times LIMIT in the port's address space */
#define LITEPCIE_HOST_LIMIT			0x8804
#define LITEPCIE_HOST_BASE_LO			0x8808	/* for SET: address, a multiple of 4096 */
#define LITEPCIE_HOST_BASE_HI			0x880c
/* for SET: bytes, a multiple of 4096, at most LIMIT */
#define LITEPCIE_HOST_SIZE			0x8810
#define LITEPCIE_HOST_SET			0x8814	/* a write gives the card a buffer */
#define LITEPCIE_HOST_SET_NUMBER_MASK		0x0000000f
#define LITEPCIE_HOST_SET_READ			0x00000100	/* the card may read it */
#define LITEPCIE_HOST_SET_WRITE			0x00000200	/* the card may write it */
#define LITEPCIE_HOST_CLEAR			0x8818	/* write 1: take the buffer from the card */
#define LITEPCIE_HOST_VALID			0x881c	/* the card has the buffer */
#define LITEPCIE_HOST_BUSY			0x8820	/* an access to the buffer is under way */
#define LITEPCIE_HOST_ERRORS			0x8824	/* accesses that failed, modulo 2^32 */
#define LITEPCIE_HOST_ERROR			0x8828	/* the last access that failed */
#define LITEPCIE_HOST_ERROR_REASON_MASK		0x000000ff	/* HOST_REASON_* or REASON_* */
#define LITEPCIE_HOST_ERROR_NUMBER_MASK		0x0000ff00
#define LITEPCIE_HOST_ERROR_WRITE		0x00010000
#define LITEPCIE_HOST_REGS_END			0x882c
#define LITEPCIE_HOST_REASON_NO_BUFFER		16	/* the card has no buffer of this number */
#define LITEPCIE_HOST_REASON_DENIED		17	/* the buffer may not be read, or written */

/* MSI-X, where CAPABILITIES has it: table and Pending Bit Array (PCI Local Bus 3.0 6.8.2) */
#define LITEPCIE_MSIX_TABLE			0x40000	/* four dwords for each vector */
#define LITEPCIE_MSIX_PENDING			0x50000

/* stop reasons in ENGINE_STATUS and in the status block */
#define LITEPCIE_REASON_NONE			0
#define LITEPCIE_REASON_UNSUPPORTED_REQUEST	1
#define LITEPCIE_REASON_COMPLETER_ABORT		2
#define LITEPCIE_REASON_POISONED		3
#define LITEPCIE_REASON_TIMEOUT			4
#define LITEPCIE_REASON_BAD_LENGTH		5	/* completion byte count or address */
#define LITEPCIE_REASON_ZERO_LENGTH		6	/* descriptor of length 0 */
#define LITEPCIE_REASON_MEMORY_RANGE		7	/* beyond the endpoint memory */
#define LITEPCIE_REASON_BAD_LINK		8	/* LINK in a circle, empty or not aligned */
#define LITEPCIE_REASON_DOORBELL		9	/* beyond the ring, or backwards */
#define LITEPCIE_REASON_BAD_RING		10	/* ring or status block misaligned */
#define LITEPCIE_REASON_BUS_MASTER		11	/* bus mastering off */
#define LITEPCIE_REASON_RESERVED		12	/* reserved bit of a descriptor set */
/* an access to the endpoint memory failed */
#define LITEPCIE_REASON_MEMORY_ERROR		13

/* descriptor: four little-endian dwords in host memory */
#define LITEPCIE_DESCRIPTOR_BYTES		16
/* dword 0: bytes; with LINK: descriptors */
#define LITEPCIE_DESCRIPTOR_LENGTH_MASK		0x00ffffff
/* status block and MSI when complete */
#define LITEPCIE_DESCRIPTOR_INTERRUPT		0x01000000
/* stream reader: a packet ends here */
#define LITEPCIE_DESCRIPTOR_LAST		0x02000000
/* dwords 2, 3 are the address of a table */
#define LITEPCIE_DESCRIPTOR_LINK		0x80000000
/* dword 1: endpoint byte address; dwords 2, 3: host byte address, low and high */
/* a stream has no endpoint address */

/* status block: four little-endian dwords in host memory, which the card writes at once */
#define LITEPCIE_STATUS_BYTES			16
#define LITEPCIE_STATUS_COMPLETED		0	/* dword 0: completed ring descriptors */
/* dword 1: [7:0] reason, [31:8] STOPPED_BYTES */
#define LITEPCIE_STATUS_REASON			1
#define LITEPCIE_STATUS_BYTES_LO		2	/* dwords 2, 3: bytes moved since reset */
#define LITEPCIE_STATUS_BYTES_HI		3

/* report of a stream writer for a buffer: a dword per slot, written after the data */
#define LITEPCIE_REPORT_OFFSET			64	/* bytes after the status block */
#define LITEPCIE_REPORT_BYTES			4
#define LITEPCIE_REPORT_BYTES_MASK		0x00ffffff	/* bytes in the buffer */
#define LITEPCIE_REPORT_LAST			0x01000000	/* the packet ends in this buffer */
/* the packet before this buffer was cut: here begins another one */
#define LITEPCIE_REPORT_CUT			0x02000000

#endif /* _LITEPCIE_REGS_H */
