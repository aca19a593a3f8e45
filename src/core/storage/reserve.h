// Reserve: room on the disk of the data that new jobs leave alone, so that those that were accepted
// can still be worked off: ends, heartbeats and cancels need some, and retention to free more.
#pragma once

#include <cstdint>
#include <string_view>

namespace perdure {

struct SpaceFacts {
    std::uint64_t free_bytes = 0;  // that this user may still write
    std::uint64_t disk_bytes = 0;
    std::uint64_t reserve = 0;  // as configured; 0: none
};

// What is kept free: at most a twentieth of the disk, however small that is.
std::uint64_t reserve_of(const SpaceFacts& facts);

struct SpaceDecision {
    enum class Kind { take_submits, refuse_submits } kind = Kind::take_submits;
    std::string_view rule = "P11/enough_space";
};
SpaceDecision decide_space(const SpaceFacts& facts);

}  // namespace perdure
