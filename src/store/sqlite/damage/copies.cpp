#include "store/sqlite/damage/copies.h"

#include <set>

#include "core/explain/damage.h"
#include "store/engine/rows/bytes.h"
#include "store/sql/tables/load.h"

namespace perdure::store::sqlite {
namespace {

constexpr std::uint64_t copy_form = 1;
constexpr std::int64_t service_id = 0;

}  // namespace

std::string encode_copy(const ServiceRow& s) {
    ByteWriter out;
    out.number(copy_form);
    out.number(s.clock.tick);
    out.at(s.clock.now);
    out.at(s.clock.grace_until);
    out.number(s.keeper.holder.value);
    out.number(s.keeper.epoch);
    out.at(s.keeper.deadline);
    out.at(s.wall);
    for (const auto number : {s.servers_used, s.id_high_water, s.repairs, s.fenced, s.last_recovery,
                              s.made_id_high_water})
        out.number(number);
    return out.take();
}

void decode_copy(std::string_view bytes, ServiceRow& s) {
    ByteReader in(bytes);
    if (in.number() != copy_form) fail_corrupt("a copy is in a form that is not known");
    s.clock.tick = in.number();
    s.clock.now = in.at<ServiceTime>();
    s.clock.grace_until = in.at<ServiceTime>();
    s.keeper.holder = {in.id()};
    s.keeper.epoch = in.number();
    s.keeper.deadline = in.at<ServiceTime>();
    s.wall = in.at<WallTime>();
    for (auto* number : {&s.servers_used, &s.id_high_water, &s.repairs, &s.fenced, &s.last_recovery,
                         &s.made_id_high_water})
        *number = in.number();
    in.end();
}

std::string encode_copy(const ServerRow& s) {
    ByteWriter out;
    out.number(copy_form);
    for (const std::uint64_t number :
         {std::uint64_t{s.number}, s.id_high_water, s.last_group, s.fence, s.used})
        out.number(number);
    return out.take();
}

void decode_copy(std::string_view bytes, ServerRow& s) {
    ByteReader in(bytes);
    if (in.number() != copy_form) fail_corrupt("a copy is in a form that is not known");
    s.number = in.small();
    for (auto* number : {&s.id_high_water, &s.last_group, &s.fence, &s.used}) *number = in.number();
    in.end();
}

std::int64_t checksum_of(std::int64_t id, std::string_view body) {
    std::uint64_t hash = 0xcbf29ce484222325ULL ^ static_cast<std::uint64_t>(id);
    for (const char c : body) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return static_cast<std::int64_t>(hash >> 1);
}

namespace {

// What `read` makes of a row; empty if it, or its checksum at `column`, is not good.
template <class Read>
auto if_good(const Found& row, int column, std::int64_t id, Read read)
    -> std::optional<decltype(read())> {
    try {
        auto value = read();
        if (row.is_null(column)) return value;  // older than checksums
        if (checksum_of(id, encode_copy(value)) != row.number(column)) return std::nullopt;
        return value;
    } catch (const Failure& failure) {
        if (failure.error.code != Errc::corrupt) throw;
        return std::nullopt;
    }
}

template <class Row>
std::optional<Row> decoded(const std::optional<std::string>& body) {
    if (!body) return std::nullopt;
    Row row;
    decode_copy(*body, row);
    return row;
}

// `read`: the row and its copy, as far as they are good.
template <class Row>
CopyDecision decide(const std::optional<Row>& row, const std::optional<Row>& copy) {
    return decide_copy({.row_is_good = row.has_value(),
                        .copy_is_good = copy.has_value(),
                        .are_same = row && copy && encode_copy(*row) == encode_copy(*copy)});
}

[[noreturn]] void refuse(const std::string& table, std::int64_t id) {
    fail_corrupt("row " + std::to_string(id) + " of `" + table +
                 "` is damaged, and so is its copy: restore a backup (docs/guides/operate.md,"
                 " Damage)");
}

}  // namespace

Copies::Copies(Connection& c, DamageBook& book)
    : connection_(c),
      book_(book),
      service_(c,
               "SELECT tick, now_at, grace_until, keeper, keeper_epoch, keeper_deadline, wall_on,"
               " servers_used, id_high_water, repairs, fenced, last_recovery, made_id_high_water,"
               " checksum FROM service"),
      save_service_(c,
                    "INSERT OR REPLACE INTO service (one, tick, now_at, grace_until, keeper,"
                    " keeper_epoch, keeper_deadline, wall_on, servers_used, id_high_water,"
                    " repairs, fenced, last_recovery, made_id_high_water, checksum)"
                    " VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      server_(c, "SELECT id, number, id_high_water, last_group, fence, used, checksum FROM server"),
      save_server_(c,
                   "INSERT OR REPLACE INTO server (id, number, id_high_water, last_group, fence,"
                   " used, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)"),
      update_server_(c,
                     "UPDATE server SET id_high_water = ?, last_group = ?, fence = ?, used = ?,"
                     " checksum = ? WHERE id = ? AND number = ?"),
      delete_server_(c, "DELETE FROM server WHERE id = ?"),
      copies_(c, "SELECT id FROM copy WHERE id <> 0"),
      copy_(c, "SELECT body, checksum FROM copy WHERE id = ?"),
      save_copy_(c, "INSERT OR REPLACE INTO copy (id, body, checksum) VALUES (?, ?, ?)"),
      delete_copy_(c, "DELETE FROM copy WHERE id = ?") {}

void Copies::report(const char* table, std::int64_t id) {
    book_.report({table, std::to_string(id), "it was damaged, and is restored from its copy"});
}

std::optional<std::string> Copies::good_copy(std::int64_t id) {
    auto row = copy_.query({id});
    if (!row.next() || checksum_of(id, row.bytes(0)) != row.number(1)) return std::nullopt;
    return row.text(0);
}

ServiceRow Copies::service() {
    std::optional<ServiceRow> known;
    {
        auto row = service_.query({});
        if (row.next()) known = if_good(row, 13, service_id, [&] { return sql::service_of(row); });
    }
    const auto copy = decoded<ServiceRow>(good_copy(service_id));
    const auto decision = decide(known, copy);
    if (decision.kind == CopyDecision::Kind::refuse) refuse("service", 1);
    const auto& good = decision.kind == CopyDecision::Kind::use_row ? *known : *copy;
    if (decision.kind == CopyDecision::Kind::use_copy) report("service", 1);
    if (decision.write_both) save(good);
    return good;
}

std::map<std::int64_t, Copies::Twice<ServerRow>> Copies::read_servers() {
    std::map<std::int64_t, Twice<ServerRow>> all;
    auto row = server_.query({});
    while (row.next()) {
        const auto read = [&] {
            return ServerRow{.number = row.small(1),
                             .id_high_water = row.natural(2),
                             .last_group = row.natural(3),
                             .fence = row.natural(4),
                             .used = row.natural(5)};
        };
        const auto id = row.number(0);
        all[id].row = if_good(row, 6, id, read);
        if (id <= 0) all[id].row.reset();
    }
    auto copy = copies_.query({});
    while (copy.next()) {
        const auto id = copy.number(0);
        auto body = good_copy(id);
        if (body || all.contains(id)) all[id].copy = decoded<ServerRow>(body);
        if (!body && !all.contains(id)) delete_copy_.run({id});  // it lost its id; the row has it
    }
    return all;
}

// A row whose id was overwritten: the copy is still under the right one.
void Copies::drop_displaced(std::map<std::int64_t, Twice<ServerRow>>& all) {
    bool is_missing = false;
    for (const auto& [id, server] : all) {
        Statement there(connection_, "SELECT 1 FROM server WHERE id = ?");
        is_missing |= server.copy && !there.query({id}).next();
    }
    if (!is_missing) return;
    for (auto it = all.begin(); it != all.end();) {
        if (it->second.row || it->second.copy) {
            ++it;
            continue;
        }
        delete_server_.run({it->first});
        it = all.erase(it);
    }
}

std::map<ServerId, ServerRow> Copies::servers() {
    auto all = read_servers();
    drop_displaced(all);
    std::map<ServerId, ServerRow> good;
    for (const auto& [id, server] : all) {
        const auto decision = decide(server.row, server.copy);
        if (decision.kind == CopyDecision::Kind::refuse) refuse("server", id);
        const bool restored = decision.kind == CopyDecision::Kind::use_copy;
        const ServerId known{static_cast<std::uint64_t>(id)};
        good[known] = restored ? *server.copy : *server.row;
        if (restored) report("server", id);
        if (decision.write_both) save(known, good[known]);
    }
    return good;
}

void Copies::save(const ServiceRow& s) {
    const auto body = encode_copy(s);
    const auto checksum = checksum_of(service_id, body);
    save_service_.run_one({s.clock.tick, s.clock.now, s.clock.grace_until, s.keeper.holder,
                           s.keeper.epoch, s.keeper.deadline, s.wall, s.servers_used,
                           s.id_high_water, s.repairs, s.fenced, s.last_recovery,
                           s.made_id_high_water, checksum});
    save_copy_.run_one({service_id, Value::blob(body), checksum});
}

void Copies::save(ServerId id, const ServerRow& row) {
    const auto body = encode_copy(row);
    const auto checksum = checksum_of(static_cast<std::int64_t>(id.value), body);
    // Nearly always it is there: then the index of its number need not be written.
    const auto updated = update_server_.run(
        {row.id_high_water, row.last_group, row.fence, row.used, checksum, id, row.number});
    if (updated == 0)
        save_server_.run(
            {id, row.number, row.id_high_water, row.last_group, row.fence, row.used, checksum});
    save_copy_.run_one({id, Value::blob(body), checksum});
}

void Copies::remove(ServerId id) {
    delete_server_.run_one({id});
    delete_copy_.run({id});
}

}  // namespace perdure::store::sqlite
