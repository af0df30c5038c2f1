# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# pcievhost's model of a host against the card with the endpoint in gateware. Included by ../Makefile.
#
# The model is compiled from the checkout as it is, with two settings of model.h, and linked with the files of this
# folder, which take the place of a Verilog simulator. Objects are in the board's folder.

PCIEVHOST ?=
# A part of the names of the cases to run.
CASES     ?=
# Without a BOARD on the command line, the endpoint is elaborated anew.
JUDGED    := $(if $(filter command%,$(origin BOARD)),$(BOARD_DIR),$(ROOT)/build/sim_pcievhost)
CHECKOUT  := $(abspath $(firstword $(wildcard $(PCIEVHOST) $(ROOT)/$(PCIEVHOST)) $(PCIEVHOST)))
JUDGE     := $(OUT)/pcievhost
HOST_C    := codec displink ltssm mem pcie pcie_utils
HOST_OBJS := $(HOST_C:%=$(JUDGE)/$(subst /,_,$(CHECKOUT))/%.o)
JUDGE_CC  := cases host lane monitor
JUDGE_OBJS := $(JUDGE_CC:%=$(JUDGE)/%.o)
HOST_FLAGS := -O1 -DPCIEDPI -isystem $(CHECKOUT)/src

.PHONY: pcievhost pcievhost-judge

pcievhost:
	@test -n "$(PCIEVHOST)" || { echo "pcievhost: give PCIEVHOST=PATH, a checkout of" \
		"https://github.com/wyvernSemi/pcievhost" >&2; exit 2; }
	@for name in $(HOST_C); do test -f "$(CHECKOUT)/src/$$name.c" || { echo "pcievhost: $(PCIEVHOST) is no checkout" \
		"of pcievhost, which has src/$$name.c; get one from https://github.com/wyvernSemi/pcievhost" >&2; exit 2; }; done
ifneq ($(JUDGED),$(BOARD_DIR))
	@$(or $(PYTHON),python3) ../targets/sim.py --build --no-compile --log-level warning --output-dir $(JUDGED) \
		--phy soft --gen 1 --lanes 1 --data-width 64 --tags 32
else
	@grep -qs "CONFIG_PCIE_PHY_SOFT 1" $(SOC_H) || { echo "pcievhost: $(BOARD) is no board with the endpoint in" \
		"gateware; build one with ./targets/sim.py --build --phy soft, or leave BOARD out" >&2; exit 2; }
endif
	@$(MAKE) --no-print-directory -s BOARD=$(JUDGED) model
	@$(MAKE) --no-print-directory -s -j$(JOBS) BOARD=$(JUDGED) PCIEVHOST=$(CHECKOUT) pcievhost-judge
	@$(JUDGED)/simulator/pcievhost/judge "$(CASES)"

pcievhost-judge: $(JUDGE)/judge

$(HOST_OBJS): $(JUDGE)/$(subst /,_,$(CHECKOUT))/%.o: $(CHECKOUT)/src/%.c pcievhost/model.h
	@mkdir -p $(@D)
	@echo "  CC $<"
	@gcc -w $(HOST_FLAGS) -include pcievhost/model.h -c -o $@ $<

$(JUDGE_OBJS): $(JUDGE)/%.o: pcievhost/%.cpp $(wildcard pcievhost/*.h) $(SOC_H) $(VERILATED)
	@mkdir -p $(@D)
	@echo "  CXX $<"
	@g++ $(CXXFLAGS) -MF /dev/null $(HOST_FLAGS) $(OF_BOARD) -c -o $@ $<

$(JUDGE)/judge: $(JUDGE_OBJS) $(HOST_OBJS) $(OBJ)/Vlitepcie_soc_sim__ALL.a
	@echo "  LD $@"
	@g++ -o $@ $^ $(RUNTIME) $(LDLIBS)
