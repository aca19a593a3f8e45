#include "store/sqlite/tables/sqlite_tables.h"

#include "base/assert.h"
#include "store/sql/tables/contents.h"
#include "store/sqlite/db/idle_file.h"

namespace perdure::store::sqlite {

SqliteTables::SqliteTables(Connection& c, DamageBook& book)
    : connection_(c),
      book_(book),
      load_(c),
      relations_(c),
      places_(c, load_),
      small_(c, book),
      unremoved_(c) {}

Contents SqliteTables::contents() {
    Contents contents;
    contents.service = small_.copies.service();
    if (auto* notes = connection_.idle_file()) {
        notes->keep_what_goes_with(contents.service);
        notes->add_to(contents.service);
        contents.noted = notes->heard();
    }
    contents.servers = small_.copies.servers();
    sql::read_contents(connection_, load_, book_, contents);
    return contents;
}

void SqliteTables::begin() { transaction_.emplace(connection_, Transaction::Kind::write); }

void SqliteTables::commit() {
    PERDURE_ASSERT(transaction_.has_value());
    transaction_->commit();
    transaction_.reset();
}

void SqliteTables::write(WriteSet& set, JobId& at) {
    if (!set.jobs.empty()) places_.save(set.jobs, at);
    for (const auto& change : set.large) {
        at = change.attempt.job;
        places_.write(change);
    }
    small_.write_rows_of_jobs(set, at);
    places_.forget(set.forgotten, at);
    for (const auto& forgotten : set.forgotten) {
        at = forgotten.job.id;
        small_.forget_relations(forgotten);
    }
    at = {};
    for (const auto& piece : set.leftovers) unremoved_.remove(piece);
    for (const auto& note : set.notes) places_.write(note);
    small_.write_others(set);
    if (set.tidy) places_.tidy_ready_deadlines();
    set.clear();
}

bool SqliteTables::takes_notes() const {
    const auto* notes = connection_.idle_file();
    return notes && notes->is_open();
}

bool SqliteTables::write_note(const IdleNote& note) { return connection_.idle_file()->write(note); }

bool SqliteTables::has_job(JobId id) {
    Statement known(connection_, "SELECT 1 FROM job WHERE id = ?");
    return known.query({id}).next();
}

}  // namespace perdure::store::sqlite
