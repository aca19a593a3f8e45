#include "store/sqlite/tables/range_delete.h"

#include <fmt/format.h>

#include <algorithm>

namespace perdure::store::sqlite {
namespace {

// For fewer, looking for neighbours costs more than it saves.
constexpr std::size_t neighbours_min = 16;

}  // namespace

RangeDelete::RangeDelete(Connection& c, const std::string& table, const std::string& key)
    : table_(table),
      between_sql_(fmt::format("SELECT {1} FROM {0} WHERE {1} BETWEEN ? AND ? ORDER BY {1} LIMIT ?",
                               table, key)),
      delete_sql_(fmt::format("DELETE FROM {} WHERE {} = ?", table, key)),
      delete_between_sql_(fmt::format("DELETE FROM {} WHERE {} BETWEEN ? AND ?", table, key)),
      between_(c, between_sql_.c_str()),
      delete_(c, delete_sql_.c_str()),
      delete_between_(c, delete_between_sql_.c_str()) {}

// The first rows of the table, in order, from the first one on that leaves.
RangeDelete::Keys RangeDelete::neighbours() {
    Keys all;
    if (leaving_.size() < neighbours_min) return all;
    auto row = between_.query({leaving_.front(), leaving_.back(), 2 * leaving_.size()});
    while (row.next()) all.push_back(row.number(0));
    return all;
}

void RangeDelete::finish(const std::function<void(const KeyRange&)>& each) {
    std::sort(leaving_.begin(), leaving_.end());
    const auto all = neighbours();
    auto at = all.begin();
    for (std::size_t next = 0; next < leaving_.size();) {
        const auto first = next++;
        at = std::lower_bound(at, all.end(), leaving_[first]);
        const bool is_known = at != all.end() && *at == leaving_[first];
        while (is_known && ++at != all.end() && next < leaving_.size() && *at == leaving_[next])
            ++next;
        const KeyRange range{leaving_[first], leaving_[next - 1]};
        leave(range, next - first);
        if (each) each(range);
    }
    leaving_.clear();
}

void RangeDelete::leave(const KeyRange& range, std::size_t rows) {
    if (rows == 1) return delete_.run_one({range.first});
    const auto left = delete_between_.run({range.first, range.last});
    if (left != static_cast<int>(rows)) fail_corrupt("`" + table_ + "` is not as it was read");
}

}  // namespace perdure::store::sqlite
