// Detector: what notices that something went wrong. It only gathers facts; core decides.
#pragma once

#include <array>
#include <string_view>

#include "base/time.h"

namespace perdure {

enum class Detector {
    report,        // the worker told how the attempt ended
    heartbeat,     // a worker's list of attempts does not fit what is stored
    takeover,      // a new life of the same worker, on the same state directory (O5)
    reboot,        // the same, and its host was started anew meanwhile (O5)
    confirmation,  // a start was never confirmed (O4)
    lease,         // nothing was heard until the lease was over (O3)
    deadline,      // a queue or total timeout was over while the job waited (E5)
    promotion,     // a sweep found a job that waits for something free: a bug of ours (C4)
};

// The one spelling of each: in the ledger, in metrics, on the screen and in the docs.
inline constexpr std::array<std::string_view, 8> detector_names = {
    "report", "heartbeat", "takeover", "reboot", "confirmation", "lease", "deadline", "promotion",
};
constexpr std::string_view to_string(Detector detector) {
    return detector_names[static_cast<std::size_t>(detector)];
}

// What was seen, for the ledger. No decision rests on it.
struct Sighting {
    Detector detector = Detector::report;
    std::string_view rule;  // by which it was seen for what it is
    // Since the last sign of life. report: since the process had ended. deadline: since that.
    Duration silent_for;
    bool announced = false;    // the worker had said that it leaves
    bool turned_deaf = false;  // its session has, by this (O3); the store says so

    friend bool operator==(const Sighting&, const Sighting&) = default;
};

}  // namespace perdure
