# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

# The interpreter that makes build/venv; all else runs in there.
PYTHON ?= python3
# Arguments for pytest: make test TESTS="test/sim -k cpio"
TESTS  ?=
# Tests at a time: as many as there are processors and memory for, or a number: make test WORKERS=1
WORKERS ?= auto
# Files and folders whose tests of make test-all run in make test, too: make test FULL="test/gateware/dma test/sim"
FULL   ?=
# Length of make search, and the number that its random inputs depend on: make search SECONDS=600 SEED=7
SECONDS ?= 3600
SEED   ?= $(shell od -An -N3 -tu4 /dev/urandom | tr -d ' ')
# What the proofs are asked for: make prove PROVE=--quick
PROVE  ?=
# What the benchmark is asked for: make bench BENCH="--quick --only latency"
BENCH  ?=
# What area and clock are asked for: make synth SYNTH="--width 64 --no-clock"
SYNTH  ?=

VENV := build/venv/bin

# What is given here is for here: make -C sim, which tests run, has a TESTS of its own.
MAKEOVERRIDES =

# Compiled Python stays beside its sources: without it each worker of the tests, and each program that a test starts,
# compiles all of it anew.
unexport PYTHONDONTWRITEBYTECODE

# The kernel tree that patches are made for, and who sends them: make series LINUX=~/linux AUTHOR="NAME <ADDRESS>"
LINUX  ?=
AUTHOR ?=

.PHONY: help ready setup check test test-all test-endpoint search test-debug-kernel test-lane-faults prove demo bench \
	synth docs deb wheel series clean

help:
	@echo "make setup     packages of the machine, build/venv, and all that make test needs of the network"
	@echo "make ready     packages of the machine and build/venv: enough for all but the tests"
	@echo "make demo      build the board, boot the guest, move data through it, print the figures"
	@echo "               (PHY=soft: the endpoint in gateware; DEMO=\"--lcrc-every 1000\": with damaged TLPs)"
	@echo "make check     style and static checks"
	@echo "make test      tests of every kind, on the default board (TESTS=\"test/sim -k cpio\": some of them)"
	@echo "make test-all  all tests: also every board, width, kernel and fault (takes TESTS too)"
	@echo "make test-endpoint"
	@echo "               all tests of the endpoint in gateware"
	@echo "make search    random search for faults, for an hour (SECONDS=600, SEED=7)"
	@echo "make test-debug-kernel"
	@echo "               lets each allocation of the driver fail, in a guest whose kernel finds faults (KASAN,"
	@echo "               lockdep, kmemleak); TESTS=test/guest/test_queue.py: other guest tests under that kernel"
	@echo "make test-lane-faults"
	@echo "               the tests of guests on the card with the endpoint in gateware, its lane with all faults"
	@echo "               that the simulator has for it (takes TESTS too)"
	@echo "make prove     formal properties of the gateware, with a table of what is proven (PROVE=--quick: a part)"
	@echo "make bench     the sweeps, compared with stock LitePCIe and published figures (BENCH=--quick: a part)"
	@echo "make synth     area and clock, compared with stock LitePCIe, by yosys and nextpnr"
	@echo "               (SYNTH=--no-clock: area alone; SYNTH=--targets: the boards)"
	@echo "make docs      the documentation as a site, in build/docs"
	@echo "make deb       Debian packages of driver (DKMS), tool and library, in build/deb"
	@echo "make wheel     the Python package and the project as wheels, in build/wheel"
	@echo "make series    the driver as series of patches for a kernel tree, in build/series"
	@echo "               (LINUX=~/linux AUTHOR=\"NAME <ADDRESS>\")"
	@echo "make clean     remove build/ (the cache of packages stays: ~/.cache/litepcie-soc)"

# What a user of the tool needs. make setup also fetches 0.2 GB of packages for the tests.
ready:
	@$(PYTHON) tools/bootstrap.py

setup:
	@$(PYTHON) tools/bootstrap.py --tests

check: ready
	$(VENV)/ruff check .
	$(VENV)/python -m tools.check_text
	$(VENV)/python -m tools.check_imports
	$(VENV)/python -m tools.check_messages
	$(VENV)/python docs/pictures/path.py --check
	$(VENV)/python -m litepcie_bench.pictures --check
	$(VENV)/python -m litepcie_bench.documents --check
	$(VENV)/python -m litepcie_soc.build.regs --check
	$(VENV)/python -m litepcie_soc.standalone.docs --check
	$(VENV)/python -m litepcie_soc.build.docs --check
	$(VENV)/python -m test.gateware.endpoint.serdes.ecp5.misbehaviours --check
	$(VENV)/python -m tools.rules --check
	$(VENV)/python -m tools.check_version
	$(VENV)/python -m tools.command_pages --check
	$(VENV)/python -m tools.library_page --check
	$(MAKE) --no-print-directory -C software/user check
	$(MAKE) --no-print-directory -C sim check

PYTEST   := $(VENV)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
ENDPOINT := test/gateware/endpoint test/sim/test_lane.py \
	test/guest/test_lane.py test/targets/test_ecp5.py

# Some tests fetch for themselves what they need, if it is not there.
PREPARED := $(if $(TESTS),ready,setup)

# The default board first: most tests want it, and all workers would build it at once.
test: $(PREPARED)
	@$(VENV)/python targets/sim.py --build --log-level warning
	$(if $(FULL),LITEPCIE_FULL="$(FULL)" )$(PYTEST) -m "not search$(if $(FULL),, and not full)" $(TESTS)

test-all: $(PREPARED)
	@$(VENV)/python targets/sim.py --build --log-level warning
	$(PYTEST) -m "not search" $(TESTS)

test-endpoint: $(PREPARED)
	$(PYTEST) -m "not search" $(or $(TESTS),$(ENDPOINT))

search: $(PREPARED)
	@$(VENV)/python targets/sim.py --build --log-level warning
	LITEPCIE_SEARCH_SECONDS=$(SECONDS) LITEPCIE_SEARCH_SEED=$(SEED) $(PYTEST) -m search $(TESTS)

# The kernel first: a test that waits for its build runs into its time limit, and ends the build.
test-debug-kernel: $(PREPARED)
	@$(VENV)/python targets/sim.py --build --log-level warning
	@$(VENV)/python -m litepcie_sim.guest prepare --kernel 6.1-debug
	LITEPCIE_GUEST_KERNEL=6.1-debug $(PYTEST) -m "guest and not full and not search" \
		$(or $(TESTS),test/guest/test_debug_kernel.py)

# What goes wrong on the lane in every guest of make test-lane-faults: one in so many symbols, TLPs and packets.
LANE_FAULTS := --errors-every 100000 --lcrc-every 1000 --drift 300 --link-fault all:3000

test-lane-faults: $(PREPARED)
	@$(VENV)/python targets/sim.py --build --phy soft --log-level warning
	LITEPCIE_PHY=soft LITEPCIE_SIMULATOR="$(LANE_FAULTS)" $(PYTEST) -m "guest and not full and not search" \
		$(or $(TESTS),test/guest)

prove: ready
	@$(VENV)/python -m test.formal $(PROVE)

demo:
	@$(PYTHON) tools/bootstrap.py --demo
	@$(VENV)/python -m litepcie_sim.demo $(if $(PHY),--phy $(PHY)) $(DEMO)

bench: ready
	@$(VENV)/python -m litepcie_bench $(BENCH)

synth: ready
	@$(VENV)/python -m litepcie_bench.synth $(SYNTH)

# Without the machine's packages for the simulator.
docs:
	@$(PYTHON) tools/bootstrap.py --docs
	@$(VENV)/python -m mkdocs build --strict

deb: ready
	@$(VENV)/python -m tools.make_deb

wheel: ready
	@$(VENV)/python -m tools.make_wheel

series: ready
	@$(VENV)/python software/kernel/upstream/series.py --tree "$(LINUX)" --author "$(AUTHOR)" --output build/series

clean:
	rm -rf build
