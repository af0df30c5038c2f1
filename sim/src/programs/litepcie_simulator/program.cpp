// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/program.h"

#include "common/program.h"
#include "programs/litepcie_simulator/simulator.h"
#include "referee/tlp_checker.h"

#include <cstdio>

namespace litepcie {

namespace {

int serve(const std::string &path, const std::string &faults, const std::string &registers, const std::string &stats,
          const MakeMachine &make) {
    StopSignals signals;  // The program then writes its figures, and removes the socket's file.
    ListeningSocket socket(path);
    Simulator simulator(make, stats, faults, registers);
    printf("listening on %s\n", path.c_str());
    fflush(stdout);
    std::string violation;
    std::exception_ptr error;
    if (Fd connection = socket.accept(signals.fd())) {
        ClientSocket client(std::move(connection), signals.fd());
        try {
            simulator.serve(client);
        } catch (const Violation &broken) {
            violation = broken.what();
            fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n",
                    (unsigned long long)simulator.machine().cycle(), broken.what());
        } catch (...) {
            error = std::current_exception();
        }
    }
    fputs(simulator.machine().broken_rules().c_str(), stderr);
    if (!stats.empty())
        simulator.machine().write_figures(stats, violation);
    if (error)
        std::rethrow_exception(error);
    return violation.empty() ? signals.exit_status() : kExitViolation;
}

}  // namespace

int simulator_program(int argc, char **argv, const std::function<void(CommandLine &)> &add_options,
                      const std::string &stats, const MakeMachine &make) {
    const char *const name = "litepcie_simulator";
    try {
        CommandLine line(name, "serves the card to QEMU's vfio-user-pci on a UNIX socket");
        std::string path, faults, registers;
        line.text("--socket", "PATH", "UNIX socket to listen on", path);
        line.text(
            "--inject-pipe", "PATH",
            "named pipe that takes lines FAULT@N, counted from the next completion, and \"stats\": write the file "
            "of --stats before the guest's next access",
            faults);
        line.text("--registers", "FILE",
                  "file with lines OFFSET VALUE: loads of this dword of BAR0 return VALUE; the file may change",
                  registers);
        add_options(line);
        if (!line.parse(argc, argv))
            return 0;
        if (path.empty())
            throw UsageError("--socket PATH is missing");
        return serve(path, faults, registers, stats, make);
    } catch (const UsageError &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitUsage;
    } catch (const SocketInUse &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitSocketInUse;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitMismatch;
    }
}

}  // namespace litepcie
