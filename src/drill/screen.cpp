#include "drill/screen.h"

#include <fmt/format.h>

#include <cstdio>

namespace perdure::drill {

void Screen::open(std::size_t rows, const std::string& where) {
    if (options_.json) return;
    fmt::print(
        "Perdure drill: {} kinds of failure, {} times each, with real processes, on throw-away\n"
        "instances in {}, while other jobs run beside.\n"
        "Measured is the time from the accident until the job runs again, or has ended.\n\n{}",
        rows, options_.runs, where, heading());
    std::fflush(stdout);
}

void Screen::is_preparing(Lane lane, const std::string& what) {
    const std::lock_guard guard(lock_);
    erase_passing();
    passing_[lane] = what;
    draw_passing();
}

void Screen::run_ended(const Row& row, std::size_t done, std::size_t of) {
    std::string beads;
    for (std::size_t i = 0; i < of; ++i) beads += i < done ? "●" : "○";
    is_preparing(row.lane, fmt::format("{:<40}{}", row.failure, beads));
}

void Screen::row_ended(const Verdict& verdict) {
    const std::lock_guard guard(lock_);
    if (options_.json) return;
    erase_passing();
    fmt::print("{}{}", line_of(verdict, options_.colour), complaint_of(verdict));
    draw_passing();
    std::fflush(stdout);
}

void Screen::lane_ended(Lane lane) {
    const std::lock_guard guard(lock_);
    erase_passing();
    passing_.erase(lane);
    draw_passing();
}

void Screen::close(const std::string& summary) {
    const std::lock_guard guard(lock_);
    erase_passing();
    if (!options_.json) fmt::print("\n{}", summary);
    std::fflush(stdout);
}

void Screen::erase_passing() {
    for (; drawn_ > 0; --drawn_) fmt::print("\x1b[1A\x1b[2K");
}

void Screen::draw_passing() {
    if (!options_.live || options_.json) return;
    for (const auto& [lane, text] : passing_) {
        fmt::print("\x1b[2m… {}\x1b[0m\n", text);
        ++drawn_;
    }
    std::fflush(stdout);
}

}  // namespace perdure::drill
