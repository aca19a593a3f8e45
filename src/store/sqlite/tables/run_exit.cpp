#include "store/sqlite/tables/run_exit.h"

#include <algorithm>

namespace perdure::store::sqlite {
namespace {

// For fewer, looking for neighbours costs more than it saves.
constexpr std::size_t neighbours_min = 16;

}  // namespace

RunExit::RunExit(Connection& c)
    : between_(c, "SELECT job FROM run WHERE job BETWEEN ? AND ? ORDER BY job LIMIT ?"),
      delete_(c, "DELETE FROM run WHERE job = ?"),
      delete_between_(c, "DELETE FROM run WHERE job BETWEEN ? AND ?") {}

// The first rows of `run`, in order, from the first one on that leaves.
RunExit::Ids RunExit::neighbours() {
    Ids all;
    if (leaving_.size() < neighbours_min) return all;
    auto row = between_.query({leaving_.front(), leaving_.back(), 2 * leaving_.size()});
    while (row.next()) all.push_back(row.number(0));
    return all;
}

void RunExit::finish() {
    std::sort(leaving_.begin(), leaving_.end());
    const auto all = neighbours();
    auto at = all.begin();
    for (std::size_t next = 0; next < leaving_.size();) {
        const auto first = next++;
        at = std::find(at, all.end(), leaving_[first]);
        if (at != all.end()) ++at;
        for (; at != all.end() && next < leaving_.size() && *at == leaving_[next]; ++at) ++next;
        leave(first, next - 1);
    }
    leaving_.clear();
}

void RunExit::leave(std::size_t first, std::size_t last) {
    if (first == last) return delete_.run_one({leaving_[first]});
    const auto left = delete_between_.run({leaving_[first], leaving_[last]});
    if (left != static_cast<int>(last - first + 1)) fail_corrupt("what runs is not as it was read");
}

}  // namespace perdure::store::sqlite
