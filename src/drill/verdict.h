// Verdict: what the runs of a row come to. Pure: from samples to figures, sentences and JSON.
#pragma once

#include <string>
#include <vector>

#include "drill/row.h"

namespace perdure::drill {

struct Verdict {
    const Row* row = nullptr;
    std::vector<double> samples;     // seconds, of the runs that ended as they should
    std::vector<std::string> wrong;  // one sentence for each that did not

    std::size_t runs() const { return samples.size() + wrong.size(); }
    double p50() const;
    double max() const;
    // Every run ended as it should, within the bound.
    bool ok() const;
};

// For people: "0.03 s", "10.2 s", "never".
std::string seconds_text(double seconds);
// Its words for the table, each as wide as its column: mark, failure, old, bound, p50, max.
std::string line_of(const Verdict& verdict, bool colour);
std::string heading();
// What else there is to say about a row that has failed; empty if it has not.
std::string complaint_of(const Verdict& verdict);
// The last sentence.
std::string summary_of(const std::vector<Verdict>& verdicts, std::size_t neighbours, double took_s);
std::string as_json(const std::vector<Verdict>& verdicts);
// `--list`: every row with its sentence.
std::string list_of(const std::vector<const Row*>& rows);
std::string list_as_json(const std::vector<const Row*>& rows);

}  // namespace perdure::drill
