#include "store/engine/tables.h"

#include <iterator>

namespace perdure::store {
namespace {

// For tables that are near: one row after the other.
template <class Keys, class Value, class Key, class Read>
void read_each(const Keys& keys, LoadedRows<Key, Value>& into, Read read) {
    for (const auto& key : keys)
        into.insert_or_assign(key, LoadedRow<Value>::of([&] { return read(key); }));
}

template <class Key, class Asked, class Value, class Read>
void read_each(const std::map<Key, Asked>& keys, LoadedRows<Key, Value>& into, Read read) {
    for (const auto& [key, asked] : keys)
        into.insert_or_assign(
            key, LoadedRow<Value>::of([&, &k = key, &a = asked] { return read(k, a); }));
}

template <class Row>
Loaded::Some<Row> some_of(std::vector<Row> rows, std::uint32_t max) {
    const bool is_all = rows.size() < max;
    return {std::move(rows), is_all};
}

Loaded::Some<QueuePosition> read_blocked(LineReader& lines, const PermitLine& line,
                                         const BlockedQuery& query) {
    std::vector<QueuePosition> orders;
    lines.find_blocked(line.first, line.second, query.behind, [&](const QueuePosition& order) {
        if (orders.size() < query.max) orders.push_back(order);
        return orders.size() == query.max;
    });
    return some_of(std::move(orders), query.max);
}

void load_jobs(JobReader& jobs, const Wanted& wanted, Loaded& into) {
    read_each(wanted.jobs, into.jobs, [&](JobId id) { return jobs.job(id); });
    read_each(wanted.history, into.history, [&](const HistoryName& name, Epoch before) {
        return Loaded::History{before, jobs.history(name.first, name.second, before)};
    });
    read_each(wanted.large, into.large,
              [&](const LargeName& name) { return jobs.large(name.first, name.second); });
    read_each(wanted.keys, into.keys,
              [&](const KeyName& name) { return jobs.idempotency(name.first, name.second); });
}

void load_relations(RelationReader& relations, const Wanted& wanted, Loaded& into) {
    read_each(wanted.facts, into.facts, [&](JobId id) { return relations.facts(id); });
    read_each(wanted.awaited, into.awaited, [&](JobId id) { return relations.awaited(id); });
    read_each(wanted.added, into.added, [&](JobId id) { return relations.added(id); });
    read_each(wanted.waiters, into.waiters, [&](JobId id, std::uint32_t max) {
        return some_of(relations.waiters(id, max), max);
    });
    read_each(wanted.made, into.made, [&](const MadeName& name) {
        const auto& [job, generation, number] = name;
        return relations.made({job, generation, number});
    });
}

void load_lines(LineReader& lines, const Wanted& wanted, Loaded& into) {
    read_each(wanted.shapes_blocked, into.shapes_blocked,
              [&](const PermitLine& behind, std::uint32_t max) {
                  return some_of(lines.shapes_blocked_on(behind.first, behind.second, max), max);
              });
    read_each(wanted.wanting, into.wanting, [&](const PermitLine& line, std::uint32_t enough) {
        return Loaded::Count{lines.wanting(line.first, line.second, enough), enough};
    });
    for (const auto& [line, query] : wanted.blocked) {
        auto further = read_blocked(lines, line, query);
        auto& known = into.blocked[line].value();
        known.rows.insert(known.rows.end(), further.rows.begin(), further.rows.end());
        known.is_all = further.is_all;
    }
}

}  // namespace

std::vector<std::uint32_t> LineReader::read_lines(const std::vector<LineQuery>& queries,
                                                  const TakeRowOf& take) {
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        rows.push_back(
            read_line(queries[i], [&](const QueuePosition& order, std::uint64_t read_as,
                                      const LoadRow& load) { take(i, order, read_as, load); }));
    }
    return rows;
}

void Tables::load(const Wanted& wanted, Loaded& into) {
    load_jobs(jobs(), wanted, into);
    load_relations(relations(), wanted, into);
    load_lines(lines(), wanted, into);
}

}  // namespace perdure::store
