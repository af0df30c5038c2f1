/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * State of the lane of a card with the endpoint in gateware, emitted by the gateware. Do not edit:
 * `python3 -m litepcie_soc.build.regs --write` updates it, `make check` compares it.
 *
 * Byte offsets in the registers of the SoC; every register is 32 bits wide.
 */
/* clang-format off */
#ifndef LITEPCIE_UTIL_LITEPCIE_LANE_H
#define LITEPCIE_UTIL_LITEPCIE_LANE_H

/* registers */
#define LITEPCIE_LANE_MAGIC			0xf000	/* reads as MAGIC_VALUE */
#define LITEPCIE_LANE_MAGIC_VALUE		0x4c414e45
#define LITEPCIE_LANE_VERSION			0xf004	/* of this map */
#define LITEPCIE_LANE_VERSION_VALUE		6
#define LITEPCIE_LANE_CONTROL			0xf008	/* requests */
#define LITEPCIE_LANE_CONTROL_SAMPLE		0x00000001	/* copies all into the snapshot */
/* clears the counters, and forgets the fewest credits */
#define LITEPCIE_LANE_CONTROL_CLEAR		0x00000002
/* requests that wait for the link's clock */
#define LITEPCIE_LANE_BUSY			0xf00c
#define LITEPCIE_LANE_BUSY_SAMPLE		0x00000001
#define LITEPCIE_LANE_BUSY_CLEAR		0x00000002
#define LITEPCIE_LANE_CLOCK_HZ			0xf010	/* clock of this bus */
#define LITEPCIE_LANE_LOCKS			0xf014	/* what the SerDes says */
/* the other bits and REFCLK_* have a meaning */
#define LITEPCIE_LANE_LOCKS_KNOWN		0x00000001
/* the reference clock has 100 or 200 MHz, within 2 % */
#define LITEPCIE_LANE_LOCKS_REFCLK		0x00000002
#define LITEPCIE_LANE_LOCKS_PLL			0x00000004	/* the transmit PLL is locked */
/* the receiver is locked, and out of its reset */
#define LITEPCIE_LANE_LOCKS_CDR			0x00000008
/* there is a signal at the receiver */
#define LITEPCIE_LANE_LOCKS_SIGNAL		0x00000010
/* the reference clock is measured; if not, REFCLK is as PLL */
#define LITEPCIE_LANE_LOCKS_MEASURED		0x00000020
/* by the SerDes, the transmit PLL is not locked; without effect */
#define LITEPCIE_LANE_LOCKS_PLL_LOL		0x00000040
/* reference clock for which the transmit PLL is set */
#define LITEPCIE_LANE_REFCLK_HZ			0xf018
/* cycles of the reference clock in a window */
#define LITEPCIE_LANE_REFCLK_WINDOW		0xf01c
/* cycles of CLOCK_HZ in the last window; 0: it stands still */
#define LITEPCIE_LANE_REFCLK_CYCLES		0xf020
/* what the SerDes says and the link does not believe */
#define LITEPCIE_LANE_IGNORE			0xf024
/* receiver detection: there always is a receiver */
#define LITEPCIE_LANE_IGNORE_RECEIVER		0x00000001
#define LITEPCIE_LANE_IMAGE			0xf028	/* which image this is */
/* for bring-up: it has the registers from TEST on, and no data link layer */
#define LITEPCIE_LANE_IMAGE_BRINGUP		0x00000001

/* snapshot: words of 32 bits, which SAMPLE writes */
#define LITEPCIE_LANE_SNAPSHOT			0xf800
#define LITEPCIE_LANE_WORDS			256
/* counters from word 0; each stays at its largest value */
#define LITEPCIE_LANE_COUNTERS_AT		0
#define LITEPCIE_LANE_COUNTERS(X) \
	X(symbol_errors, "received symbols with a wrong code or disparity, while the link is up") \
	X(set_errors, "damaged training sets") \
	X(framing_errors, "packets with a wrong begin, symbol or end") \
	X(overflows, "the elastic buffer lost or repeated symbols") \
	X(skp_added, "pairs of SKP that the elastic buffer added") \
	X(skp_removed, "pairs of SKP that the elastic buffer removed") \
	X(recoveries, "from L0 to Recovery") \
	X(hot_resets, "the host reset the link") \
	X(compliances, "entries to Polling.Compliance") \
	X(loopbacks, "the host asked for Loopback") \
	X(detections, "receiver detections begun") \
	X(lcrc_errors, "received TLPs with a wrong LCRC, symbol, end or length") \
	X(dllp_errors, "received DLLPs with a wrong CRC, symbol, end or length") \
	X(naks_sent, "NAKs sent") \
	X(naks_received, "NAKs received") \
	X(replays, "replays begun") \
	X(replay_timeouts, "replays because no ACK came in time") \
	X(rollovers, "four replays without progress, then Recovery") \
	X(protocol_errors, "wrong numbers in ACK or NAK, and TLPs without credit") \
	X(malformed_tlps, "received TLPs whose length contradicts their header") \
	X(duplicates, "received TLPs that had come before") \
	X(tlps_received, "good TLPs received") \
	X(tlps_sent, "TLPs sent, replays included") \
	X(undecodable, "received symbols with a code that does not exist, in every state") \
	X(status_1, "intervals of 512 ns with status 1 of the SerDes (SKP added), in every state") \
	X(status_2, "intervals of 512 ns with status 2 of the SerDes (SKP removed), in every state") \
	X(status_3, "intervals of 512 ns with status 3 of the SerDes (receiver detected), in every state") \
	X(status_4, "intervals of 512 ns with status 4 of the SerDes (wrong code), in every state") \
	X(status_5, "intervals of 512 ns with status 5 of the SerDes (overflow), in every state") \
	X(status_6, "intervals of 512 ns with status 6 of the SerDes (underflow), in every state") \
	X(status_7, "intervals of 512 ns with status 7 of the SerDes (wrong disparity), in every state") \
	X(lock_losses, "times that the receiver lost its lock while a signal came")
/* words of the state, and their fields */
#define LITEPCIE_LANE_WORD_STATUS		32
#define LITEPCIE_LANE_STATUS_LTSSM		0x0000001f	/* state of the LTSSM */
#define LITEPCIE_LANE_STATUS_LINK_UP		0x00000020	/* LinkUp */
/* DL_Up: flow control is initialized */
#define LITEPCIE_LANE_STATUS_DL_UP		0x00000040
#define LITEPCIE_LANE_STATUS_INVERTED		0x00000080	/* the received lane is inverted */
#define LITEPCIE_LANE_STATUS_RX_IDLE		0x00000100	/* electrical idle, or no signal */
/* receiver detection has a result */
#define LITEPCIE_LANE_STATUS_DETECT_DONE	0x00000200
#define LITEPCIE_LANE_STATUS_DETECT_PRESENT	0x00000400	/* a receiver was found */
/* the host has asked for no scrambling */
#define LITEPCIE_LANE_STATUS_NO_SCRAMBLING	0x00000800
#define LITEPCIE_LANE_STATUS_READY		0x00001000	/* the transmitter works */
/* credits without limit, in the order of the words below, headers first */
#define LITEPCIE_LANE_STATUS_INFINITE		0x003f0000
#define LITEPCIE_LANE_WORD_TIME_LO		33	/* cycles of the link's clock, 8 ns each */
#define LITEPCIE_LANE_WORD_TIME_HI		34	/* upper bits */
/* transitions of the LTSSM; number n is entry n modulo LOG_ENTRIES */
#define LITEPCIE_LANE_WORD_LOGGED		35
/* cycles of the link's clock in LINK_WINDOW cycles of CLOCK_HZ; 0: unknown */
#define LITEPCIE_LANE_WORD_LINK_CLOCK		36
#define LITEPCIE_LANE_WORD_POSTED		37
/* fewest credits left since CLEAR */
#define LITEPCIE_LANE_POSTED_HEADERS		0x000000ff
#define LITEPCIE_LANE_POSTED_DATA		0x0fff0000	/* likewise */
#define LITEPCIE_LANE_WORD_NONPOSTED		38
/* fewest credits left since CLEAR */
#define LITEPCIE_LANE_NONPOSTED_HEADERS		0x000000ff
#define LITEPCIE_LANE_NONPOSTED_DATA		0x0fff0000	/* likewise */
#define LITEPCIE_LANE_WORD_COMPLETION		39
/* fewest credits left since CLEAR */
#define LITEPCIE_LANE_COMPLETION_HEADERS	0x000000ff
#define LITEPCIE_LANE_COMPLETION_DATA		0x0fff0000	/* likewise */
#define LITEPCIE_LANE_WORD_RECEIVER		40
/* receiver detections without an answer of the SerDes; at most 255 */
#define LITEPCIE_LANE_RECEIVER_MISSING		0x000000ff
/* LINK_CLOCK of the recovered clock, divided by 8; 0: unknown, or it stands */
#define LITEPCIE_LANE_RECEIVER_CLOCK		0x00ffff00
#define LITEPCIE_LANE_STATE_END			41
#define LITEPCIE_LANE_LINK_WINDOW		131072	/* cycles of CLOCK_HZ */

/* log of the LTSSM's transitions: entries of two words; the second is the lower half of the time */
#define LITEPCIE_LANE_LOG_AT			128
#define LITEPCIE_LANE_LOG_ENTRIES		64
#define LITEPCIE_LANE_ENTRY_STATE		0x0000001f	/* the state that was entered */
/* what was so two cycles before, see CAUSES */
#define LITEPCIE_LANE_ENTRY_CAUSE		0x0000ff00
/* cycles of the link's clock, upper bits */
#define LITEPCIE_LANE_ENTRY_TIME_HI		0xffff0000
#define LITEPCIE_LANE_CAUSES(X) \
	X(expired, "the time of the state was over") \
	X(retrain, "four replays brought no progress") \
	X(overflow, "the elastic buffer lost or repeated symbols") \
	X(silence, "no ordered set and no update of credits came for 128 us") \
	X(set, "a training set came") \
	X(idle, "the lane was idle")
#define LITEPCIE_LANE_STATES(X) \
	X("Detect.Quiet") \
	X("Detect.Active") \
	X("Polling.Active") \
	X("Polling.Compliance") \
	X("Polling.Configuration") \
	X("Configuration.Linkwidth.Start") \
	X("Configuration.Linkwidth.Accept") \
	X("Configuration.Lanenum.Wait") \
	X("Configuration.Complete") \
	X("Configuration.Idle") \
	X("L0") \
	X("Recovery.RcvrLock") \
	X("Recovery.RcvrCfg") \
	X("Recovery.Idle") \
	X("Hot Reset") \
	X("Disabled") \
	X("Loopback.Active") \
	X("Loopback.Exit") \
	X("L1") \
	X("L2")

/* image for bring-up: registers */
#define LITEPCIE_LANE_TEST			0xe800	/* what the lane does, and the counters */
#define LITEPCIE_LANE_TEST_MODE_MASK		0x00000003	/* one of TESTS */
/* the counters of this page run; they may be read without it only */
#define LITEPCIE_LANE_TEST_RUN			0x00000004
#define LITEPCIE_LANE_CYCLES			0xe804	/* cycles of CLOCK_HZ with RUN */
/* cycles of 8 ns of the transmit clock, divided by 8 */
#define LITEPCIE_LANE_TRANSMIT			0xe808
/* cycles of 8 ns of the recovered clock, divided by 8 */
#define LITEPCIE_LANE_RECEIVE			0xe80c
#define LITEPCIE_LANE_LOS			0xe810	/* changes of loss of signal */
/* changes of loss of lock of the receiver */
#define LITEPCIE_LANE_LOL			0xe814
/* changes of loss of lock of the transmit PLL, by the SerDes */
#define LITEPCIE_LANE_PLOL			0xe818
#define LITEPCIE_LANE_LEVELS			0xe81c	/* what the SerDes says now */
#define LITEPCIE_LANE_LEVELS_LOS		0x00000001	/* loss of signal */
#define LITEPCIE_LANE_LEVELS_LOL		0x00000002	/* loss of lock of the receiver */
/* loss of lock of the transmit PLL */
#define LITEPCIE_LANE_LEVELS_PLOL		0x00000004
/* receiver detections that ended, whether RUN or not */
#define LITEPCIE_LANE_DETECTIONS		0xe820
/* the last 16: two bits each, the newest lowest; DONE, then CON */
#define LITEPCIE_LANE_DETECTED			0xe824
#define LITEPCIE_LANE_STATUS_0			0xe828	/* received symbols with status 0 */
#define LITEPCIE_LANE_STATUS_1			0xe82c	/* received symbols with status 1 */
#define LITEPCIE_LANE_STATUS_2			0xe830	/* received symbols with status 2 */
#define LITEPCIE_LANE_STATUS_3			0xe834	/* received symbols with status 3 */
#define LITEPCIE_LANE_STATUS_4			0xe838	/* received symbols with status 4 */
#define LITEPCIE_LANE_STATUS_5			0xe83c	/* received symbols with status 5 */
#define LITEPCIE_LANE_STATUS_6			0xe840	/* received symbols with status 6 */
#define LITEPCIE_LANE_STATUS_7			0xe844	/* received symbols with status 7 */
#define LITEPCIE_LANE_CAPTURE			0xe848	/* recording of the receive bus */
#define LITEPCIE_LANE_CAPTURE_ARM		0x00000001	/* begins one */
#define LITEPCIE_LANE_CAPTURE_TRIGGER_MASK	0x00000006	/* one of TRIGGERS */
#define LITEPCIE_LANE_CAPTURE_VALUE_MASK	0x000001f0	/* the state or the status */
#define LITEPCIE_LANE_CAPTURED			0xe84c	/* progress of the recording */
/* it waits for its trigger, or for the recovered clock */
#define LITEPCIE_LANE_CAPTURED_BUSY		0x00000001
/* word of CAPTURE_WORDS that is the oldest */
#define LITEPCIE_LANE_CAPTURED_FIRST_MASK	0x0001ff00
/* an access to a register of the SerDes, which this write begins */
#define LITEPCIE_LANE_SCI			0xe850
#define LITEPCIE_LANE_SCI_DATA_MASK		0x000000ff
#define LITEPCIE_LANE_SCI_ADDRESS_MASK		0x00003f00
#define LITEPCIE_LANE_SCI_COMMON		0x00004000	/* a register of both channels */
#define LITEPCIE_LANE_SCI_WRITE			0x00008000
#define LITEPCIE_LANE_SCI_RESULT		0xe854	/* of the last access */
#define LITEPCIE_LANE_SCI_RESULT_DATA_MASK	0x000000ff	/* what was read */
#define LITEPCIE_LANE_SCI_RESULT_BUSY		0x00000100
/* the recording: words of the receive bus, and above it flags */
#define LITEPCIE_LANE_CAPTURE_MEMORY		0xe000
#define LITEPCIE_LANE_CAPTURE_WORDS		512
/* the trigger is in the word after so many */
#define LITEPCIE_LANE_CAPTURE_BEFORE		64
#define LITEPCIE_LANE_CAPTURE_FLAGS(X) \
	X(los) \
	X(lol) \
	X(ready)
#define LITEPCIE_LANE_TEST_TRAIN		0
#define LITEPCIE_LANE_TEST_HOLD			1
#define LITEPCIE_LANE_TEST_D10_2		2
#define LITEPCIE_LANE_TEST_COMPLIANCE		3
#define LITEPCIE_LANE_TESTS(X) \
	X("train") \
	X("hold") \
	X("d10.2") \
	X("compliance")
#define LITEPCIE_LANE_TRIGGER_NOW		0
#define LITEPCIE_LANE_TRIGGER_COMMA		1
#define LITEPCIE_LANE_TRIGGER_STATE		2
#define LITEPCIE_LANE_TRIGGER_STATUS		3
#define LITEPCIE_LANE_TRIGGERS(X) \
	X("now") \
	X("comma") \
	X("state") \
	X("status")

#endif /* LITEPCIE_UTIL_LITEPCIE_LANE_H */
