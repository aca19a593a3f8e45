// Rows: what `perdure bench --scale` has found: a cost in a small case, the same cost in a large
// one, and what was wanted. Pure: verdicts, the table for people, JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace perdure::bench {

struct Reading {
    std::string what;  // the case: "1 queue"
    double value = 0;
    std::string unit;  // "/s", "ms", "MiB"
};

struct Wanted {
    enum class Of { nothing, ratio, value };
    enum class Is { at_least, at_most };

    Of of = Of::nothing;
    Is is = Is::at_least;
    double bound = 0;
    double goal = 0;  // better than the bound; 0: there is none

    static Wanted ratio_at_least(double bound, double goal = 0) {
        return {Of::ratio, Is::at_least, bound, goal};
    }
    static Wanted ratio_at_most(double bound) { return {Of::ratio, Is::at_most, bound, 0}; }
    static Wanted at_most(double bound) { return {Of::value, Is::at_most, bound, 0}; }
};

struct ScaleRow {
    std::string name;     // of its measure, as one asks for it
    std::string measure;  // what was done
    std::string by;       // which interface it went through
    std::optional<Reading> small;
    std::optional<Reading> large;  // empty: not measured, and `note` says why
    Wanted wanted;
    std::string note;      // for people; may be empty
    bool gave_up = false;  // the large case was not finished in time; its figure is what it reached
};

// The large case's figure divided by the small one's; empty if one of them is not there or zero.
std::optional<double> ratio_of(const ScaleRow& row);

enum class Verdict { met, missed, not_measured, not_judged };
Verdict verdict_of(const ScaleRow& row);

std::string as_table(const std::vector<ScaleRow>& rows);
std::string as_json(const std::vector<ScaleRow>& rows);

}  // namespace perdure::bench
