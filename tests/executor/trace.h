// What happened, line by line, without anything that differs from run to run by right: ids become
// J1, J2... and S1, S2... in the order in which they are first seen, and no real duration appears.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ports/store.h"

namespace perdure::executor {

class Trace {
public:
    void add(std::string line) { lines_.push_back(std::move(line)); }
    const std::vector<std::string>& lines() const { return lines_; }
    std::uint64_t hash() const;

    std::string name(JobId job) { return named(jobs_, job.value, 'J'); }
    std::string name(SessionId session) { return named(sessions_, session.value, 'S'); }
    std::string name(AttemptKey attempt);

    std::string of(const Change& change);
    std::string of(const ChangeReply& reply);
    std::string of(const OverdueView& view);
    std::string of(const SessionView& view);
    std::string of(const JobView& view);

private:
    using Numbers = std::map<std::uint64_t, std::size_t>;
    static std::string named(Numbers& numbers, std::uint64_t value, char letter);

    std::vector<std::string> lines_;
    Numbers jobs_;
    Numbers sessions_;
};

// Empty if they are equal; otherwise where they part.
std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace perdure::executor
