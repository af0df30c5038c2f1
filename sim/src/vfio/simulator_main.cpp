// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/card_on_link.h"
#include "common/command_line.h"
#include "model/model_options.h"
#include "model/stats.h"
#include "vfio/simulator.h"

#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>

using namespace litepcie;

namespace {

// SIGINT and SIGTERM become readable here instead of ending the program at once, so that it writes its figures and
// removes the socket's file.
Fd signal_descriptor() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    return Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

int exit_status(int signals) {
    signalfd_siginfo info;
    return read(signals, &info, sizeof(info)) == sizeof(info) ? 128 + int(info.ssi_signo) : 0;
}

int run(const std::string &path, const std::string &faults, const ModelOptions &options, const LinkOptions &link) {
    Fd signals = signal_descriptor();
    ListeningSocket socket(path);
    CardOnLink card(make_card(), link);
    Simulator simulator(card, options, faults);
    printf("listening on %s\n", path.c_str());
    fflush(stdout);
    std::string violation;
    std::exception_ptr error;
    if (Fd connection = socket.accept(signals.get())) {
        ClientSocket client(std::move(connection), signals.get());
        try {
            simulator.serve(client);
        } catch (const Violation &broken) {
            violation = broken.what();
            fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n",
                    (unsigned long long)simulator.model().cycle(), broken.what());
        } catch (...) {
            error = std::current_exception();
        }
    }
    if (!options.stats.empty())
        write_stats(simulator.model(), options.stats, violation);
    if (error)
        std::rethrow_exception(error);
    return violation.empty() ? exit_status(signals.get()) : kExitViolation;
}

}  // namespace

int main(int argc, char **argv) {
    const char *const name = "litepcie_simulator";
    try {
        CommandLine line(name, "serves the card to QEMU's vfio-user-pci on a UNIX socket");
        ModelOptions options;
        LinkOptions link;
        std::string path, faults;
        line.text("--socket", "PATH", "UNIX socket to listen on", path);
        line.text(
            "--inject-pipe", "PATH",
            "named pipe that takes lines FAULT@N, counted from the next completion, and \"stats\": write the file "
            "of --stats before the guest's next access",
            faults);
        add_link_options(line, link);
        add_model_options(line, options);
        if (!line.parse(argc, argv))
            return 0;
        if (path.empty())
            throw UsageError("--socket PATH is missing");
        return run(path, faults, options, link);
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
