// Turns: which of several lines is served next (rule E7). Used for the queues of a tenant and for
// the shares of a queue.
//
// Each line has a *tag*; of the lines that a session can take, the lowest tag is first. A claim
// sets the tag of its line to min(max(tag, turn) + 1/weight, turn + 1), where the *turn* is the
// lowest tag that waits, in whatever line. A line that is empty keeps its tag until the turn has
// passed it, so that neither idleness nor a worker of one's own earns or costs anything for long.
//   TU1  Tags and the turn never fall. A line that waits has a tag from turn to turn + 1.
//   TU2  After `weight` claims a tag has risen by exactly 1, or is turn + 1.
//   TU3  Lines with equal tags are served in the order in which they were last served; a line goes
//        to the back with each `weight`-th claim. Those never served come first, by their jobs.
//
// Nobody starves. Let a line Q wait, and sessions that can take it claim again and again. They pass
// over Q only for a line R whose tag is lower, or equal and served longer ago. By TU1 the tag of R
// is at least the turn and that of Q at most one more, so after `weight` claims R's is not lower
// than Q's (TU2), and after as many again it was served later than Q (TU3). It stays behind Q: tags
// never fall, and one that became empty is lifted only to a turn that is not above Q's tag. So each
// line goes before Q at most twice its weight, whatever other sessions take meanwhile. Without
// TU3 a line that no worker takes would hold the turn, the others would all come to stand at
// turn + 1, and a backlog in one of them would go before the newer jobs of all.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace perdure {

inline constexpr std::uint32_t weight_max = 1'000;

// What one line knows about its turn. Lower goes first.
struct TurnRank {
    std::int64_t tag = 0;      // in parts of one; see Turns::one
    std::uint64_t served = 0;  // counts claims of all lines; zero: none since it came in
    friend constexpr auto operator<=>(const TurnRank&, const TurnRank&) = default;
};
struct Turn {
    TurnRank rank;
    std::uint32_t weight = 1;  // 1 to weight_max
    std::uint32_t claims = 0;  // since the tag was a multiple of 1 from where it began
    bool waits = false;
};

class Turns {
public:
    // Steps are rounded so that `weight` of them are one, exactly. A tag rises by at most one with
    // each claim: it has room for 10^13 of them in one working set.
    static constexpr std::int64_t one = 720'720;  // 1 to 16 divide it

    void enter(Turn& line);   // it has a job now
    void leave(Turn& line);   // it has none any more, or stands still
    void charge(Turn& line);  // for a claim

    std::size_t waiting() const { return size_; }

private:
    void add(std::int64_t tag);
    void remove(std::int64_t tag);

    std::map<std::int64_t, std::size_t> tags_;  // of those that wait, and how many have it
    std::size_t size_ = 0;
    std::int64_t turn_ = 0;  // as of the last claim
    std::uint64_t served_ = 0;
};

// How many claims a queue gets for one of a queue with weight 1.
struct QueueWeights {
    std::map<std::string, std::uint32_t> of_queue;  // by name, in every tenant

    std::uint32_t of(const std::string& queue) const {
        const auto found = of_queue.find(queue);
        return found == of_queue.end() ? 1 : found->second;
    }
};

}  // namespace perdure
