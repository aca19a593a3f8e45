#include "store/engine/state/group_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/zoo.h"

namespace perdure::store {
namespace {

// More of them would only be the search for what is hardly ever there.
constexpr std::uint32_t plans_max = 8;

}  // namespace

void GroupRows::begin_group(Plan plan) {
    end_group();
    in_group_ = true;
    has_leapt_ = false;
    plan_ = std::move(plan);
    plans_left_ = plans_max;
    loads_left_ = tables_.loads_max();
}

void GroupRows::end_group() {
    in_group_ = false;
    plan_ = {};
    if (std::exchange(has_loaded_, false)) loaded_ = {};
}

void GroupRows::note_load() {
    if (!in_group_) return;
    if (loads_left_ > 0) --loads_left_;
    if (has_leapt_) tables_.note_late_load();
}

void GroupRows::load(Wanted& wanted) {
    // What is asked for between groups is asked for anew each time.
    if (!in_group_) loaded_ = {};
    note_load();
    if (in_group_ && plans_left_ > 0) {
        --plans_left_;
        plan_(wanted);
    }
    has_loaded_ = true;
    tables_.load(wanted, loaded_);
}

template <class Key, class Value, class Want>
Value& GroupRows::answer(LoadedRows<Key, Value> Loaded::*of, const Key& key, Want want) {
    auto& answers = loaded_.*of;
    auto found = in_group_ ? answers.find(key) : answers.end();
    if (found == answers.end() && in_group_ && zoo(Bug::unloaded_taken_for_absent))
        found = answers.try_emplace(key).first;
    if (found == answers.end()) {
        Wanted wanted;
        want(wanted);
        load(wanted);
        found = answers.find(key);
    }
    return found->second.value();
}

void GroupRows::load_jobs(std::set<JobId> ids) {
    std::erase_if(ids, [&](JobId id) { return has_answer_for(id); });
    if (!in_group_ || ids.size() < 2) return;  // one is loaded when it is asked for
    Wanted wanted;
    wanted.jobs = std::move(ids);
    load(wanted);
}

void GroupRows::load_facts(std::set<JobId> ids) {
    std::erase_if(ids, [&](JobId id) { return loaded_.facts.contains(id); });
    if (!in_group_ || ids.size() < 2) return;
    Wanted wanted;
    wanted.facts = std::move(ids);
    load(wanted);
}

const JobRow* GroupRows::peek(JobId job) const {
    const auto found = loaded_.jobs.find(job);
    const auto* row = found == loaded_.jobs.end() ? nullptr : found->second.known();
    return row && *row ? &**row : nullptr;
}

std::optional<JobRow> GroupRows::job(JobId id) {
    if (!in_group_) return tables_.jobs().job(id);
    auto& row = answer(&Loaded::jobs, id, [&](Wanted& w) { w.jobs.insert(id); });
    if (!row) return std::nullopt;
    auto handed_over = std::move(row);
    loaded_.jobs.erase(id);
    return handed_over;
}

// Ranges are not joined: the attempts between two of them may be any number.
std::vector<AttemptRow> GroupRows::history(JobId job, Epoch from, Epoch before) {
    HistoryName name{job, from};
    auto known = loaded_.history.upper_bound(name);
    if (in_group_ && known != loaded_.history.begin()) {
        --known;
        const auto& [of, first] = known->first;
        const auto* loaded = known->second.known();
        if (of == job && loaded && before <= loaded->before)
            name.second = first;
        else if (known->first == name && loaded)
            loaded_.history.erase(known);
    }
    const auto& found = answer(&Loaded::history, name,
                               [&](Wanted& w) { w.history.insert_or_assign(name, before); });
    std::vector<AttemptRow> attempts;
    std::copy_if(found.attempts.begin(), found.attempts.end(), std::back_inserter(attempts),
                 [&](const AttemptRow& a) { return from <= a.epoch && a.epoch < before; });
    return attempts;
}

std::string GroupRows::large(AttemptKey attempt, Large kind) {
    const LargeName name{attempt, kind};
    return answer(&Loaded::large, name, [&](Wanted& w) { w.large.insert(name); });
}

std::optional<IdempotencyRow> GroupRows::idempotency(const std::string& tenant,
                                                     const std::string& key) {
    const KeyName name{tenant, key};
    return answer(&Loaded::keys, name, [&](Wanted& w) { w.keys.insert(name); });
}

std::vector<KnownAwaited> GroupRows::facts(JobId job) {
    return answer(&Loaded::facts, job, [&](Wanted& w) { w.facts.insert(job); });
}

std::vector<AwaitedView> GroupRows::awaited(JobId job) {
    return answer(&Loaded::awaited, job, [&](Wanted& w) { w.awaited.insert(job); });
}

std::vector<JobId> GroupRows::waiters(JobId other, std::uint32_t max) {
    const auto want = [&](Wanted& w) { w.waiters.insert_or_assign(other, max); };
    auto* some = &answer(&Loaded::waiters, other, want);
    if (!some->is_all && some->rows.size() < max) {
        loaded_.waiters.erase(other);
        some = &answer(&Loaded::waiters, other, want);
    }
    const auto count = std::min<std::size_t>(some->rows.size(), max);
    return {some->rows.begin(), some->rows.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::vector<AddedRow> GroupRows::added(JobId parent) {
    return answer(&Loaded::added, parent, [&](Wanted& w) { w.added.insert(parent); });
}

std::optional<JobId> GroupRows::made(const CallbackOf& of) {
    const auto name = name_of(of);
    return answer(&Loaded::made, name, [&](Wanted& w) { w.made.insert(name); });
}

const Loaded::Some<ShapeId>& GroupRows::shapes_blocked_on(const Permit& permit, ShapeId behind) {
    const PermitLine at{permit, behind};
    return answer(&Loaded::shapes_blocked, at,
                  [&](Wanted& w) { w.shapes_blocked.insert_or_assign(at, shapes_read_max); });
}

void GroupRows::find_blocked(const PermitLine& line, const std::optional<QueuePosition>& behind,
                             const std::function<bool(const QueuePosition&)>& is_it) {
    auto* known = &answer(&Loaded::blocked, line, [&](Wanted& w) {
        w.blocked.insert_or_assign(line, BlockedQuery{behind, blocked_read_min});
    });
    // By number: what is read on may move them.
    std::size_t next = 0;
    while (next < known->rows.size() && behind >= known->rows[next]) ++next;
    for (;;) {
        for (; next < known->rows.size(); ++next)
            if (is_it(known->rows[next])) return;
        if (known->is_all) return;
        const auto max = std::max(blocked_read_min, static_cast<std::uint32_t>(next));
        Wanted wanted;
        std::optional<QueuePosition> last = behind;
        if (!known->rows.empty()) last = known->rows.back();
        wanted.blocked.insert_or_assign(line, BlockedQuery{last, max});
        load(wanted);
        known = &loaded_.blocked[line].value();
    }
}

std::uint32_t GroupRows::wanting(const PermitLine& line, std::uint32_t enough) {
    auto asked = enough;
    if (const auto known = loaded_.wanting.find(line); known != loaded_.wanting.end()) {
        const auto& [count, counted] = known->second.value();
        if (count == counted && counted < enough) {
            asked = std::max(enough, 2 * counted);
            loaded_.wanting.erase(known);
        }
    }
    const auto& known =
        answer(&Loaded::wanting, line, [&](Wanted& w) { w.wanting.insert_or_assign(line, asked); });
    return std::min(known.count, enough);
}

std::vector<std::uint32_t> GroupRows::read_lines(const std::vector<LineQuery>& queries,
                                                 const LineReader::TakeRowOf& take) {
    note_load();
    return tables_.lines().read_lines(queries, take);
}

std::vector<ForgetNote> GroupRows::to_forget(ServiceTime now, std::uint32_t max) {
    note_load();
    return tables_.to_forget(now, max);
}

std::vector<KeyName> GroupRows::old_keys(ServiceTime now, std::uint32_t max) {
    note_load();
    return tables_.old_keys(now, max);
}

LineReader::Submits GroupRows::submits(JobId after, std::uint32_t max,
                                       const std::set<JobId>& gone) {
    note_load();
    return tables_.lines().submits(after, max, gone);
}

bool GroupRows::has_job(JobId job) {
    note_load();
    return tables_.has_job(job);
}

std::uint32_t GroupRows::leftovers(JobId job, std::uint32_t enough) {
    note_load();
    return tables_.leftovers(job, enough);
}

}  // namespace perdure::store
