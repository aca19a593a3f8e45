// What the engine has in memory from its start on.
#include "store/sqlite/db/idle_file.h"
#include "store/sqlite/tables/sqlite_tables.h"

namespace perdure::store::sqlite {

Contents SqliteTables::contents() {
    Contents contents;
    contents.service = small_.copies.service();
    if (auto* notes = connection_.notes()) {
        notes->keep_what_goes_with(contents.service);
        notes->add_to(contents.service);
        contents.noted = notes->heard();
    }
    contents.servers = small_.copies.servers();
    contents.highest_job = {
        static_cast<std::uint64_t>(connection_.number("SELECT max(id) FROM job"))};
    read_sessions(contents);
    read_runs(contents);
    read_shapes(contents);
    read_ready_shapes(contents);
    contents.has_blocked = connection_.number("SELECT EXISTS (SELECT 1 FROM blocked)") != 0;
    read_holders(contents);
    read_debts(contents);
    return contents;
}

void SqliteTables::read_sessions(Contents& contents) {
    contents.sessions = load_.sessions(book_);
    Statement directories(connection_, "SELECT machine, device, inode, session FROM directory");
    auto row = directories.query({});
    while (row.next())
        contents.directories.push_back(
            {{row.text(0), row.bits(1), row.bits(2)}, SessionId{row.bits(3)}});
}

void SqliteTables::read_runs(Contents& contents) {
    Statement runs(connection_, "SELECT session, assignment, job FROM run");
    auto row = runs.query({});
    while (row.next())
        contents.runs.push_back({SessionId{row.bits(0)}, row.bits(1), JobId{row.bits(2)}});
}

void SqliteTables::read_shapes(Contents& contents) {
    Statement shapes(connection_,
                     "SELECT id, tenant, queue, kind, share, submitter FROM shape ORDER BY id");
    auto shape = shapes.query({});
    while (shape.next()) {
        auto submitter = shape.number(5);
        if (submitter < 0 || submitter > static_cast<std::int64_t>(last_submitter_kind)) {
            book_.note({"shape", std::to_string(shape.number(0)), "its submitter cannot be"});
            submitter = 0;
        }
        contents.shapes.push_back({shape.number(0),
                                   {shape.text(1), shape.text(2), shape.text(3), shape.text(4),
                                    static_cast<SubmitterKind>(submitter)}});
    }
    Statement tallies(connection_, "SELECT * FROM tally");
    auto tally = tallies.query({});
    while (tally.next())
        for (std::size_t i = 0;
             auto& jobs : contents.tallies.emplace_back(tally.number(0), Counts{}).jobs)
            jobs = tally.number(static_cast<int>(++i));
    Statement queues(connection_, "SELECT tenant, queue FROM queue WHERE paused = 1");
    auto queue = queues.query({});
    while (queue.next()) contents.pauses.push_back({queue.text(0), queue.text(1), true});
}

// From shape to shape: what lies between them is not read.
void SqliteTables::read_ready_shapes(Contents& contents) {
    Statement next(connection_, "SELECT min(shape) FROM ready WHERE shape > ?");
    for (ShapeId last = 0;;) {
        auto row = next.query({last});
        if (!row.next() || row.is_null(0)) return;
        last = row.number(0);
        contents.ready_shapes.push_back(last);
    }
}

void SqliteTables::read_holders(Contents& contents) {
    using Kind = Thing::Kind;
    Statement limits(connection_, "SELECT tenant, name, max FROM limit_max");
    auto limit = limits.query({});
    while (limit.next())
        contents.limits.push_back({{Kind::limit, limit.text(0), limit.text(1)}, limit.number(2)});
    Statement keys(connection_, "SELECT tenant, key, job FROM key_holder");
    auto key = keys.query({});
    while (key.next())
        contents.holders.push_back({{Kind::key, key.text(0), key.text(1)}, 1, JobId{key.bits(2)}});
    Statement slots(connection_, "SELECT tenant, name, slot, job FROM limit_holder");
    auto slot = slots.query({});
    while (slot.next())
        contents.holders.push_back(
            {{Kind::limit, slot.text(0), slot.text(1)}, slot.number(2), JobId{slot.bits(3)}});
}

void SqliteTables::read_debts(Contents& contents) {
    Statement ends(connection_, "SELECT job FROM owed_end");
    auto end = ends.query({});
    while (end.next()) contents.owed_ends.emplace_back(end.bits(0));
    Statement removals(connection_, "SELECT job FROM owed_removal");
    auto removal = removals.query({});
    while (removal.next()) contents.owed_removals.emplace_back(removal.bits(0));
    Statement things(connection_, "SELECT tenant, kind, name, behind FROM owed_thing");
    auto thing = things.query({});
    while (thing.next()) {
        const auto kind = thing.number(1) == 0 ? Thing::Kind::key : Thing::Kind::limit;
        contents.owed_things.emplace_back(Thing{kind, thing.text(0), thing.text(2)},
                                          thing.number(3));
    }
}

}  // namespace perdure::store::sqlite
