// A job that kills its worker cannot hide behind adoption (rule O9, [P6]).
#pragma once

#include <cstdint>
#include <string_view>

namespace perdure {

struct CrashLoopFacts {
    std::uint32_t crashes_in_a_minute = 0;  // of this worker, the present restart included
};
struct CrashLoopDecision {
    bool start_nothing_new = false;
    bool end_youngest_adopted = false;  // as crash(worker)
    std::string_view rule;
};

inline CrashLoopDecision decide_crash_loop(const CrashLoopFacts& f) {
    constexpr std::uint32_t suspicious = 3;
    if (f.crashes_in_a_minute < suspicious) return {false, false, "O9/start_normally"};
    if (f.crashes_in_a_minute == suspicious) return {true, false, "O9/start_nothing_new"};
    return {true, true, "O9/end_the_youngest"};
}

}  // namespace perdure
