// Damage (rule C9): what cannot be understood, and what cannot be done without.
#pragma once

#include <string_view>

namespace perdure {

// A row that is kept twice, each with a checksum, since nothing can go on without it.
struct CopyFacts {
    bool row_is_good = false;
    bool copy_is_good = false;
    bool are_same = false;  // they say the same
};

struct CopyDecision {
    enum class Kind { use_row, use_copy, refuse } kind = Kind::refuse;
    bool write_both = false;  // the other one is missing or wrong
    std::string_view rule;
};

// Both are written by every transaction that writes one: the row is what everybody reads.
constexpr CopyDecision decide_copy(const CopyFacts& facts) {
    using Kind = CopyDecision::Kind;
    if (facts.row_is_good)
        return {Kind::use_row, !facts.copy_is_good || !facts.are_same, "C9/row_is_good"};
    if (facts.copy_is_good) return {Kind::use_copy, true, "C9/restored_from_its_copy"};
    return {Kind::refuse, false, "C9/both_are_damaged"};
}

}  // namespace perdure
