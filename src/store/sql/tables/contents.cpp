#include "store/sql/tables/contents.h"

namespace perdure::store::sql {
namespace {

std::int64_t number(Database& database, const char* sql) {
    Statement statement(database, sql);
    auto row = statement.query({});
    return row.next() ? row.number(0) : 0;
}

void read_sessions(Database& database, Loader& load, DamageBook& book, Contents& contents) {
    contents.sessions = load.sessions(book);
    Statement directories(database, "SELECT machine, device, inode, session FROM directory");
    auto row = directories.query({});
    while (row.next())
        contents.directories.push_back(
            {{row.text(0), row.bits(1), row.bits(2)}, SessionId{row.bits(3)}});
}

void read_runs(Database& database, Contents& contents) {
    Statement runs(database, "SELECT session, assignment, job FROM run");
    auto row = runs.query({});
    while (row.next())
        contents.runs.push_back({SessionId{row.bits(0)}, row.bits(1), JobId{row.bits(2)}});
}

void read_shapes(Database& database, Contents& contents) {
    Statement shapes(database,
                     "SELECT id, tenant, queue, kind, share, submitter FROM shape ORDER BY id");
    auto shape = shapes.query({});
    while (shape.next())
        contents.shapes.push_back({shape.number(0),
                                   {shape.text(1), shape.text(2), shape.text(3), shape.text(4),
                                    static_cast<SubmitterKind>(shape.number(5))}});
    Statement tallies(database, "SELECT * FROM tally");
    auto tally = tallies.query({});
    while (tally.next())
        for (std::size_t i = 0;
             auto& jobs : contents.tallies.emplace_back(tally.number(0), Counts{}).jobs)
            jobs = tally.number(static_cast<int>(++i));
    Statement queues(database, "SELECT tenant, queue FROM queue WHERE paused = 1");
    auto queue = queues.query({});
    while (queue.next()) contents.pauses.push_back({queue.text(0), queue.text(1), true});
}

// From shape to shape: what lies between them is not read.
void read_ready_shapes(Database& database, Contents& contents) {
    Statement next(database, "SELECT min(shape) FROM ready WHERE shape > ?");
    for (ShapeId last = 0;;) {
        auto row = next.query({last});
        if (!row.next() || row.is_null(0)) return;
        last = row.number(0);
        contents.ready_shapes.push_back(last);
    }
}

void read_holders(Database& database, Contents& contents) {
    using Kind = Permit::Kind;
    Statement limits(database, "SELECT tenant, name, max FROM limit_max");
    auto limit = limits.query({});
    while (limit.next())
        contents.limits.push_back({{Kind::limit, limit.text(0), limit.text(1)}, limit.number(2)});
    Statement keys(database, "SELECT tenant, key, job FROM key_holder");
    auto key = keys.query({});
    while (key.next())
        contents.holders.push_back({{Kind::key, key.text(0), key.text(1)}, 1, JobId{key.bits(2)}});
    Statement slots(database, "SELECT tenant, name, slot, job FROM limit_holder");
    auto slot = slots.query({});
    while (slot.next())
        contents.holders.push_back(
            {{Kind::limit, slot.text(0), slot.text(1)}, slot.number(2), JobId{slot.bits(3)}});
}

void read_debts(Database& database, Contents& contents) {
    Statement ends(database, "SELECT job FROM owed_end");
    auto end = ends.query({});
    while (end.next()) contents.owed_ends.emplace_back(end.bits(0));
    Statement removals(database, "SELECT job FROM owed_removal");
    auto removal = removals.query({});
    while (removal.next()) contents.owed_removals.emplace_back(removal.bits(0));
    Statement permits(database, "SELECT tenant, kind, name, behind FROM owed_thing");
    auto permit = permits.query({});
    while (permit.next()) {
        const auto kind = permit.number(1) == 0 ? Permit::Kind::key : Permit::Kind::limit;
        contents.owed_permits.emplace_back(Permit{kind, permit.text(0), permit.text(2)},
                                           permit.number(3));
    }
}

}  // namespace

void read_contents(Database& database, Loader& load, DamageBook& book, Contents& contents) {
    contents.highest_job = {
        static_cast<std::uint64_t>(number(database, "SELECT max(id) FROM job"))};
    read_sessions(database, load, book, contents);
    read_runs(database, contents);
    read_shapes(database, contents);
    read_ready_shapes(database, contents);
    contents.has_blocked = number(database, "SELECT EXISTS (SELECT 1 FROM blocked)") != 0;
    read_holders(database, contents);
    read_debts(database, contents);
}

}  // namespace perdure::store::sql
