#include "store/sqlite/tables/unremoved_rows.h"

namespace perdure::store::sqlite {

// ?1: the job; ?2: how many.
UnremovedRows::UnremovedRows(Connection& c) {
    const auto add = [&](const char* count, const char* remove) {
        tables_.push_back(std::make_unique<Table>(c, count, remove));
    };
    add("SELECT count(*) FROM (SELECT 1 FROM attempt WHERE job = ?1 LIMIT ?2)",
        "DELETE FROM attempt WHERE job = ?1 AND epoch IN"
        " (SELECT epoch FROM attempt WHERE job = ?1 ORDER BY epoch LIMIT ?2)");
    add("SELECT count(*) FROM (SELECT 1 FROM large WHERE job = ?1 LIMIT ?2)",
        "DELETE FROM large WHERE rowid IN (SELECT rowid FROM large WHERE job = ?1 LIMIT ?2)");
    add("SELECT count(*) FROM (SELECT 1 FROM recovery WHERE job = ?1 LIMIT ?2)",
        "DELETE FROM recovery WHERE id IN (SELECT id FROM recovery WHERE job = ?1 LIMIT ?2)");
    add("SELECT count(*) FROM (SELECT 1 FROM made WHERE parent = ?1 LIMIT ?2)",
        "DELETE FROM made WHERE parent = ?1 AND (generation, number) IN"
        " (SELECT generation, number FROM made WHERE parent = ?1"
        " ORDER BY generation, number LIMIT ?2)");
}

std::uint32_t UnremovedRows::count(JobId job, std::uint32_t enough) {
    std::uint32_t rows = 0;
    for (const auto& table : tables_) {
        auto row = table->count.query({job, enough - rows});
        if (row.next()) rows += static_cast<std::uint32_t>(row.number(0));
    }
    return rows;
}

void UnremovedRows::remove(const LeftoverPiece& piece) {
    auto left = piece.max;
    for (const auto& table : tables_)
        left -= static_cast<std::uint32_t>(table->remove.run({piece.job, left}));
}

}  // namespace perdure::store::sqlite
