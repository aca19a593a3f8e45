// WrongTokens: how long the answer to a wrong token waits. It waits for all wrong ones of the same
// source before it, over however many connections they come: so a source gets one answer at a time.
// A right token never waits.
//   A7  Whatever is tried, the table has at most `sources_max` entries; the one that has been quiet
//       for longest is forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace perdure {

class WrongTokens {
public:
    static constexpr std::size_t sources_max = 1'000;
    static constexpr Duration first_wait = milliseconds(250);
    static constexpr Duration step_max = seconds(4);  // between two answers to one source
    static constexpr Duration wait_max = seconds(30);
    static constexpr Duration forgotten_after = minutes(5);

    struct Verdict {
        Duration wait;
        std::uint64_t count = 0;       // of this source, since it was quiet
        bool is_worth_a_line = false;  // 10, 100, 1000, …
    };
    // One more wrong token; `source`: an account or an address.
    Verdict note(const std::string& source, BootTime now);

    std::size_t sources() const { return sources_.size(); }

private:
    struct Source {
        std::uint64_t count = 0;
        BootTime last;      // when it last tried
        BootTime answered;  // when the answer to that is due
    };
    Source& source_of(const std::string& name, BootTime now);

    std::map<std::string, Source> sources_;
};

}  // namespace perdure
