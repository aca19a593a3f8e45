// Damage: rows that cannot be understood (C9). Such a row is a value, not an exception: whoever
// meets it skips it, so that it stops no loop, no start and no list; it frees nothing; and a person
// can see it and remove it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "ports/task.h"

namespace perdure {

// `table` and `row` name it for people and for DamageService::discard(); `job`, if it is about one.
struct Damaged {
    std::string table;
    std::string row;
    std::string why;
    JobId job = {};
};

struct DamagePage {
    std::vector<Damaged> rows;
    std::optional<std::string> next;  // where to go on; empty: that was all
};

// What a person removes. `may_still_run`: the person knows that no process of it is alive, or does
// not mind (E2).
struct DiscardDamaged {
    std::string table;
    std::string row;
    bool may_still_run = false;
};

class DamageService {
public:
    virtual ~DamageService() = default;
    // Looks at the rows of all tables, a bounded piece at a time. `from` is the last page's `next`.
    virtual Task<Result<DamagePage>> damaged(std::string from) = 0;
    // Removes a row, or all rows of a job, and frees what it kept, in one transaction.
    // not_found: there is no such row. conflict: it is not damaged, or its process may still run.
    virtual Task<Result<void>> discard(DiscardDamaged what) = 0;
    // How many damaged rows were met so far and not removed, by table.
    virtual std::map<std::string, std::uint64_t> damage_counts() const = 0;
};

}  // namespace perdure
