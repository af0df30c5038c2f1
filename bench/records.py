#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""results.json: one record per figure, measured or published."""

from litepcie_bench.bounds import rate, why_above
from litepcie_bench.points import AN_BYTES, AN_ITERATIONS, OURS, STOCK
from litepcie_bench.published import application_notes, bus_mastering, msc_columns, pio

PUBLISHED = "published"

# Keys of a record. An absent key was not measured or is not known.
TEXT_KEYS   = ("design", "source", "sequence", "phy", "update_fc", "acks", "memory", "board", "read_above_bound",
    "write_above_bound")
TRUTH_KEYS  = ("reorder", "fabric_buffer", "direct")
ZERO_KEYS   = ("latency_ns", "jitter_ns")  # Numbers that may be 0.
NUMBER_KEYS = ("gen", "lanes", "datapath_bits", "clock_hz", "mps", "mrrs", "completion_bytes",
    "latency_ns", "transfer_bytes", "iterations", "read_bytes_per_second",
    "write_bytes_per_second", "bound_read_bytes_per_second", "bound_write_bytes_per_second",
    "theory_bytes_per_second", "tags", "address_bits", "jitter_ns", "outlier_ns", "outlier_every",
    "lcrc_every", "completion_headers", "completion_data")
DESIGNS     = (OURS, STOCK, PUBLISHED)
SEQUENCES   = ("read", "write", "read_write")


def check(record):
    """Raises ``ValueError`` if ``record`` is not a valid record."""
    for key, value in record.items():
        if key not in TEXT_KEYS + TRUTH_KEYS + NUMBER_KEYS:
            raise ValueError(f"{key}: unknown key of a record")
        if key in TRUTH_KEYS and not isinstance(value, bool):
            raise ValueError(f"{key}: {value!r} is not true or false")
        if key in NUMBER_KEYS and (isinstance(value, bool) or not isinstance(value, (int, float))
            or value < 0 or (value == 0 and key not in ZERO_KEYS)):
            raise ValueError(f"{key}: {value!r} is not a measured number")
    if record.get("design") not in DESIGNS or record.get("sequence") not in SEQUENCES:
        raise ValueError(f"design or sequence: {record}")
    if not record.get("source"):
        raise ValueError(f"source is missing: {record}")

def unexplained(records):
    """Yields (record, direction) of each figure above its bound that does not have the reason beside it."""
    for record in records:
        for direction in ("read", "write"):
            value, most = (record.get(f"{name}{direction}_bytes_per_second") for name in ("", "bound_"))
            if value and most and value > most and not record.get(f"{direction}_above_bound"):
                yield record, direction

# Measured -----------------------------------------------------------------------------------------


def _source(point):
    words = [f"bench {point.sweep}"]
    if point.batch > 1:
        words.append(f"{point.batch} transfers per doorbell")
    if point.fill:
        words.append("including the writes that fill its table")
    if point.sequence == "pio":
        words.append(f"stores of {point.store} bytes, loads of 4 bytes, processor costs nothing")
    return ", ".join(words)


def _conditions(point):
    """Returns conditions of card, host and link other than generation, lanes and width."""
    found = {"tags": point.pending if point.design == STOCK else point.tags, "phy": point.phy,
        "address_bits": point.address_bits, "update_fc": point.update_fc,
        "jitter_ns": point.jitter_ns, "reorder": point.reorder, "memory": point.memory}
    if point.acks != "interval":
        found["acks"] = point.acks
    if point.direct:
        found["direct"] = True
    if point.hardware:
        found |= {"board": ", ".join(point.hardware.names), "fabric_buffer": bool(point.hardware.fabric),
            **dict(zip(("completion_headers", "completion_data"), point.hardware.space))}
    rare = {name: getattr(point, name) for name in ("outlier_ns", "outlier_every", "lcrc_every")}
    return found | {name: value for name, value in rare.items() if value}


def _sequences(point):
    """Returns (sequence, directions) of the records that a point yields."""
    if point.sequence == "read-and-write":
        return [("read_write", ("read", "write"))]
    return [("read", ("read",)), ("write", ("write",))]


def measured(result):
    """Returns the records of a result; none if it failed."""
    if result.failure:
        return []
    point, data = result.point, result.data
    base = {"design": point.design, "source": _source(point), "gen": point.gen,
        "lanes": point.lanes, "datapath_bits": point.width, "clock_hz": data["clock_hz"],
        "mps": point.mps, "transfer_bytes": point.bytes}
    if point.sequence == "pio":
        base["transfer_bytes"] = point.store
        base["iterations"]     = point.bytes//point.store
    else:
        base |= {"mrrs": point.mrrs, "completion_bytes": data["completion_bytes"],
            "latency_ns": point.latency_ns, "iterations": point.iterations*point.batch,
            "theory_bytes_per_second": data["theory_bytes_per_second"],
            **_conditions(point)}
    records = []
    for sequence, directions in _sequences(point):
        record = base | {"sequence": sequence}
        for direction in directions:
            record[f"{direction}_bytes_per_second"] = rate(result, direction)
            if point.sequence != "pio":
                record[f"bound_{direction}_bytes_per_second"] = data[direction]["bound_bytes_per_second"]
                if why_above(result, direction):
                    record[f"{direction}_above_bound"] = why_above(result, direction)
        if point.sequence == "pio" and sequence == "read":
            record |= {"transfer_bytes": 4, "iterations": point.bytes//4}
        records.append(record)
    return records

# Published ----------------------------------------------------------------------------------------


def _notes():
    for row in application_notes():
        base = {"design": PUBLISHED, "source": f"{row.name}, {row.chipset}, {row.ip} IP",
            "gen": row.gen, "lanes": row.lanes, "mps": 256, "transfer_bytes": AN_BYTES,
            "iterations": AN_ITERATIONS, "theory_bytes_per_second": row.theory}
        if row.width_given:
            base["datapath_bits"] = row.width
        for direction in ("read", "write"):
            misprint = " (misprint)" if row.misprint(direction) else ""
            yield base | {"sequence": direction, "source": base["source"] + misprint,
                f"{direction}_bytes_per_second": row.rates[direction]}
        yield base | {"sequence": "read_write",
            "source": base["source"] + " (misprint)"*row.misprint("both_read"),
            "read_bytes_per_second": row.rates["both_read"],
            "write_bytes_per_second": row.rates["both_write"]}


def _msc():
    for column in msc_columns():
        source = f"{column.source} {column.name}" + ", calculated"*column.calculated
        for size, value in column.rates.items():
            record = {"design": PUBLISHED, "source": source, "gen": column.gen,
                "lanes": column.lanes, "mps": column.mps, "transfer_bytes": size,
                "sequence": column.direction}
            key = "theory_bytes_per_second" if column.calculated else \
                f"{column.direction}_bytes_per_second"
            yield record | {key: value}


def _gen1_x1():
    for method, direction, value, note in pio():
        yield {"design": PUBLISHED, "source": f"PIO 2007, {method}: {note}", "gen": 1, "lanes": 1,
            "transfer_bytes": 4, "sequence": direction, f"{direction}_bytes_per_second": value}
    for direction, what, value in bus_mastering():
        record = {"design": PUBLISHED, "source": f"bus mastering 2009, {what}", "gen": 1,
            "lanes": 1}
        if direction == "either":
            yield record | {"sequence": "write", "theory_bytes_per_second": value}
        else:
            yield record | {"sequence": direction, f"{direction}_bytes_per_second": value}


def published():
    """Returns the records of every published figure."""
    return [*_notes(), *_msc(), *_gen1_x1()]
