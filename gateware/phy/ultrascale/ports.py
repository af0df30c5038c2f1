#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Ports of the IP of UltraScale's hard blocks that need no logic of ours."""

# Constant inputs of both families.
TIED = dict(
    i_cfg_mgmt_write                               = 0,
    i_cfg_mgmt_write_data                          = 0,
    i_cfg_mgmt_byte_enable                         = 0,
    i_cfg_fc_sel                                   = 0b100,  # cfg_fc_* are the credits that the host gives us.
    i_cfg_msg_transmit                             = 0,
    i_cfg_msg_transmit_type                        = 0,
    i_cfg_msg_transmit_data                        = 0,
    i_cfg_hot_reset_in                             = 0,
    i_cfg_power_state_change_ack                   = 1,  # The card prepares nothing before a change of power state.
    i_cfg_err_uncor_in                             = 0,  # See _HardBlock.add_error_reports.
    i_cfg_vf_flr_done                              = 0,
    i_cfg_link_training_enable                     = 1,
    i_cfg_config_space_enable                      = 1,
    i_cfg_req_pm_transition_l23_ready              = 0,
    i_cfg_dsn                                      = 0,
    i_cfg_ds_port_number                           = 0,
    i_cfg_ds_bus_number                            = 0,
    i_cfg_ds_device_number                         = 0,
    i_cfg_interrupt_int                            = 0,
    i_cfg_interrupt_pending                        = 0,
    i_cfg_interrupt_msi_select                     = 0,
    i_cfg_interrupt_msi_pending_status             = 0,
    i_cfg_interrupt_msi_pending_status_data_enable = 0,
    i_cfg_interrupt_msi_attr                       = 0,
    i_cfg_interrupt_msi_tph_present                = 0,
    i_cfg_interrupt_msi_tph_type                   = 0,
    i_cfg_interrupt_msi_tph_st_tag                 = 0,
    i_cfg_interrupt_msi_function_number            = 0,
    i_cfg_interrupt_msi_pending_status_function_num = 0,
)

# Constant inputs of one family only.
TIED_ULTRASCALE = dict(
    i_cfg_mgmt_type1_cfg_reg_access   = 0,
    i_cfg_per_func_status_control     = 0,
    i_cfg_per_function_number         = 0,
    i_cfg_per_function_output_request = 0,
    i_cfg_ds_function_number          = 0,
    i_cfg_subsys_vend_id              = 0x10ee,
    i_pcie_perstn1_in                 = 0,
)
TIED_ULTRASCALE_PLUS = dict(
    i_cfg_mgmt_function_number         = 0,
    i_cfg_mgmt_debug_access            = 0,
    i_cfg_vf_flr_func_num              = 0,
    i_cfg_pm_aspm_l1_entry_reject      = 0,
    i_cfg_pm_aspm_tx_l0s_entry_disable = 0,
)

# Ports that LitePCIe's support module connects under the names of the IP; these connections stay.
KEPT = (
    "o_pci_exp_txp", "o_pci_exp_txn", "i_pci_exp_rxp", "i_pci_exp_rxn", "i_sys_clk", "i_sys_clk_gt", "o_user_lnk_up",
    "o_cfg_phy_link_down", "o_cfg_phy_link_status", "o_cfg_negotiated_width", "o_cfg_current_speed",
    "o_cfg_max_read_req", "o_cfg_function_status", "o_cfg_ltssm_state",
)
