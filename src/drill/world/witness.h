// Witness: the folder in which the attempts of one run leave traces of their own: a file when they
// start, with their process id, and one when they end. What is measured and judged is read from
// here, not only from what the server believes. An attempt can be made to wait at a gate.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "drill/world/clock.h"
#include "shim/format/fd.h"

namespace perdure::drill {

struct Trace {
    Moment at = 0;      // when it was left, by the clock of the file system
    std::string words;  // what it says
    pid_t process() const;
};

class Witness {
public:
    static Result<std::unique_ptr<Witness>> make(const std::string& folder);

    const std::string& folder() const { return folder_; }
    std::optional<Trace> started(const std::string& job, std::uint32_t epoch) const;
    std::optional<Trace> ended(const std::string& job, std::uint32_t epoch) const;
    std::optional<Trace> left(const std::string& name) const;
    std::size_t starts(const std::string& job) const;

    Result<Trace> wait_for_start(const std::string& job, std::uint32_t epoch,
                                 double patience_s) const;
    Result<Trace> wait_for_end(const std::string& job, std::uint32_t epoch,
                               double patience_s) const;

    // Lets those pass who wait at the gate, or will.
    void open_gate() const;
    // Nothing that belongs to this run is alive any more.
    bool nobody_left() const;

private:
    Witness(std::string folder, Fd gate) : folder_(std::move(folder)), gate_(std::move(gate)) {}

    std::string folder_;
    Fd gate_;
};

// Lines of a shell script. What every witness does first and last, and the wait at the gate.
extern const char* const says_start;
extern const char* const says_end;
extern const char* const waits_at_gate;

}  // namespace perdure::drill
