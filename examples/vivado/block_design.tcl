# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

# A block design of Vivado around a standalone core: its stream goes through a FIFO and back to the host, and the host
# reaches a GPIO block in BAR0. What is left of the core, its PHY boundary, becomes ports of the design.
#
#     litepcie_soc_gen examples/vivado/core.yml --output-dir litepcie_core
#     vivado -mode batch -source examples/vivado/block_design.tcl -tclargs litepcie_core PART FOLDER
#
# PART is an FPGA, for example xc7a200tfbg484-2, and FOLDER the project to make.

if {$argc != 3} {
    puts stderr "block_design.tcl: give three arguments: the folder of the core, the part, the folder of the project"
    exit 2
}
lassign $argv core_folder part project

create_project litepcie_system $project -part $part
add_files -norecurse [file join $core_folder litepcie_core.v]
update_compile_order -fileset sources_1
create_bd_design system

# Vivado finds the interfaces of the core by the attributes in its Verilog.
create_bd_cell -type module -reference litepcie_core core

# The logic of the user: put your own here.
create_bd_cell -type ip -vlnv xilinx.com:ip:axis_data_fifo fifo
create_bd_cell -type ip -vlnv xilinx.com:ip:axi_gpio gpio
set_property CONFIG.C_GPIO_WIDTH 8 [get_bd_cells gpio]
make_bd_intf_pins_external [get_bd_intf_pins gpio/GPIO]
connect_bd_intf_net [get_bd_intf_pins core/stream0_source] [get_bd_intf_pins fifo/S_AXIS]
connect_bd_intf_net [get_bd_intf_pins fifo/M_AXIS] [get_bd_intf_pins core/stream0_sink]
connect_bd_intf_net [get_bd_intf_pins core/user] [get_bd_intf_pins gpio/S_AXI]

# The core's clock, as core.yml has it, and one for the logic of the user, of any frequency.
create_bd_port -dir I -type clk -freq_hz 125000000 sys_clk
create_bd_port -dir I -type rst sys_rst
set_property CONFIG.POLARITY ACTIVE_HIGH [get_bd_ports sys_rst]
create_bd_port -dir I -type clk -freq_hz 100000000 user_clk
create_bd_port -dir I -type rst user_resetn
set_property CONFIG.POLARITY ACTIVE_LOW [get_bd_ports user_resetn]
foreach {port pins} {
    sys_clk     {core/sys_clk}
    sys_rst     {core/sys_rst}
    user_clk    {core/stream0_aclk core/user_aclk fifo/s_axis_aclk gpio/s_axi_aclk}
    user_resetn {core/stream0_aresetn core/user_aresetn fifo/s_axis_aresetn gpio/s_axi_aresetn}
} {
    foreach pin $pins {
        connect_bd_net [get_bd_ports $port] [get_bd_pins $pin]
    }
}

# The PHY boundary: connect the PHY to these ports.
foreach pin [get_bd_pins -filter {INTF == FALSE} core/*] {
    if {[get_bd_nets -quiet -of_objects $pin] eq ""} {
        make_bd_pins_external -name [lindex [split $pin /] end] $pin
    }
}

# `user_bus.origin` and `user_bus.size` of core.yml.
assign_bd_address -offset 0x40000000 -range 64K [get_bd_addr_segs gpio/S_AXI/Reg]
validate_bd_design
save_bd_design
add_files -norecurse [make_wrapper -files [get_files system.bd] -top]
