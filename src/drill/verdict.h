// Verdict: what the runs of a row come to. Pure: from samples to figures, sentences and JSON.
#pragma once

#include <string>
#include <vector>

#include "drill/row.h"

namespace perdure::drill {

// A run that ended as it should: how long it took, and how late the machine itself was meanwhile.
struct Sample {
    Sample(double took, double stall = 0) : took_s(took), stall_s(stall) {}
    double took_s;
    double stall_s;
};

// machine_late: without the machine's own delay it would have been in time. It is said, and is no
// failure of ours; the bound stays.
enum class Pace { in_time, machine_late, late };
Pace decide_pace(const Sample& sample, double bound_s);

struct Verdict {
    const Row* row = nullptr;
    std::vector<Sample> samples;
    std::vector<std::string> wrong;  // one sentence for each that did not

    std::size_t runs() const { return samples.size() + wrong.size(); }
    double p50() const;
    double max() const;
    double stall() const;  // the worst of all runs
    // The worst of all runs; late if one went wrong, or there was none.
    Pace pace() const;
    // Every run ended as it should, within the bound.
    bool ok() const { return pace() == Pace::in_time; }
};

// For people: "0.03 s", "10.2 s", "never".
std::string seconds_text(double seconds);
// Its words for the table, each as wide as its column: mark, failure, old, bound, p50, max.
std::string line_of(const Verdict& verdict, bool colour);
std::string heading();
// What else there is to say about a row that has failed, or during which the machine was late;
// empty if there is nothing.
std::string complaint_of(const Verdict& verdict);
// The last sentence.
std::string summary_of(const std::vector<Verdict>& verdicts, std::size_t neighbours, double took_s);
std::string as_json(const std::vector<Verdict>& verdicts);
// `--list`: every row with its sentence.
std::string list_of(const std::vector<const Row*>& rows);
std::string list_as_json(const std::vector<const Row*>& rows);

}  // namespace perdure::drill
