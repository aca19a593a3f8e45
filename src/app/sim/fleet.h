// Fleet: a campaign spread over forked processes, one for each core. Each child writes its figures
// to a pipe; the parent adds them up.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/campaign.h"
#include "store/memory/memory_store.h"

namespace perdure::sim {

std::unique_ptr<Store> memory_store(const Plan& plan);

struct FleetOptions {
    std::uint64_t first = 1;
    std::uint64_t seeds = 0;  // in each mode; zero: until the time is over
    double seconds_max = 0;   // zero: until the seeds are done
    unsigned jobs = 0;
    std::vector<Mode> modes;
    StoreFactory make_store = memory_store;
    std::optional<StoreKind> store = std::nullopt;  // empty: as each seed draws it
};

struct FleetReport {
    Figures figures;
    std::map<std::string, std::uint64_t> probes;
    std::uint64_t first = 0;
    unsigned jobs = 1;
    unsigned lost = 0;                    // children that died: an assertion failed
    std::vector<std::string> last_words;  // what they were at
};

class Fleet {
public:
    explicit Fleet(FleetOptions options);
    FleetReport run();

private:
    void work(unsigned child, std::FILE* notes);
    void collect(std::FILE* notes, FleetReport& report);

    FleetOptions options_;
};

// Probes that a campaign this long should have reached and has not: the simulator is blind there.
std::vector<std::string> missing_probes(const FleetReport& report);
// Too many runs have shown too little: whatever is checked was hardly there.
bool is_too_quiet(const FleetReport& report);
std::string to_json(const FleetReport& report, double seconds);
std::string to_text(const FleetReport& report, double seconds);

}  // namespace perdure::sim
