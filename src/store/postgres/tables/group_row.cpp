#include "store/postgres/tables/group_row.h"

#include <array>
#include <vector>

#include "store/postgres/db/binary.h"
#include "store/postgres/db/types.h"

namespace perdure::store::postgres {
namespace {

constexpr const char* insert_sql =
    "INSERT INTO grp (number, epoch, ok, tick, now_at, grace_until, keeper, keeper_epoch,"
    " keeper_deadline, wall_on, servers_used, id_high_water, repairs, fenced, last_recovery,"
    " made_id_high_water, server_ids, server_numbers, server_marks, server_groups, server_fences,"
    " server_uses) VALUES ($1, $2,"
    " (SELECT true FROM cell WHERE id = 1 AND epoch = $2 FOR SHARE)"
    " AND EXISTS (SELECT FROM grp WHERE number = $1 - 1),"
    " $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";
constexpr int numbers_count = 15;
constexpr int arrays_count = 6;
// Older ones have nothing to say any more: a keeper is told no more than the last.
constexpr std::int64_t groups_kept = 1'000;
constexpr std::int64_t groups_between_removals = 200;

std::string array_of(const std::vector<std::int64_t>& numbers) {
    std::string array;
    put_int4(array, numbers.empty() ? 0 : 1);
    put_int4(array, 0);
    put_int4(array, static_cast<std::int32_t>(type_int8));
    if (numbers.empty()) return array;
    put_int4(array, static_cast<std::int32_t>(numbers.size()));
    put_int4(array, 1);
    for (const auto number : numbers) {
        put_int4(array, 8);
        const auto bytes = big_endian(number);
        array.append(bytes.data(), bytes.size());
    }
    return array;
}

std::int64_t bits(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::array<std::string, arrays_count> arrays_of(const std::map<ServerId, ServerRow>& servers) {
    std::array<std::vector<std::int64_t>, arrays_count> columns;
    for (const auto& [id, row] : servers) {
        columns[0].push_back(bits(id.value));
        columns[1].push_back(row.number);
        columns[2].push_back(bits(row.id_high_water));
        columns[3].push_back(bits(row.last_group));
        columns[4].push_back(bits(row.fence));
        columns[5].push_back(bits(row.used));
    }
    std::array<std::string, arrays_count> arrays;
    for (std::size_t i = 0; i < columns.size(); ++i) arrays[i] = array_of(columns[i]);
    return arrays;
}

}  // namespace

GroupRow::GroupRow() {
    insert_.sql = insert_sql;
    insert_.types.assign(numbers_count, type_int8);
    insert_.types.insert(insert_.types.end(), arrays_count, type_int8_array);
    remove_old_.sql = "DELETE FROM grp WHERE number <= $1";
    remove_old_.types = {type_int8};
}

void GroupRow::send(Connection& connection, std::int64_t number, std::int64_t epoch,
                    const ServiceRow& s, const std::map<ServerId, ServerRow>& servers) {
    const std::array<std::int64_t, numbers_count> numbers = {number,
                                                             epoch,
                                                             bits(s.clock.tick),
                                                             s.clock.now.us,
                                                             s.clock.grace_until.us,
                                                             bits(s.keeper.holder.value),
                                                             bits(s.keeper.epoch),
                                                             s.keeper.deadline.us,
                                                             s.wall.us,
                                                             bits(s.servers_used),
                                                             bits(s.id_high_water),
                                                             bits(s.repairs),
                                                             bits(s.fenced),
                                                             bits(s.last_recovery),
                                                             bits(s.made_id_high_water)};
    std::array<std::array<char, 8>, numbers_count> binary;
    Parameters parameters;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        binary[i] = big_endian(numbers[i]);
        parameters.add({binary[i].data(), binary[i].size()});
    }
    const auto arrays = arrays_of(servers);
    for (const auto& array : arrays) parameters.add(array);
    connection.send(insert_, parameters);
    if (number % groups_between_removals != 0) return;
    const auto last = big_endian(number - groups_kept);
    Parameters removed;
    removed.add({last.data(), last.size()});
    connection.send(remove_old_, removed);
}

std::map<ServerId, ServerRow> read_servers(Connection& connection) {
    std::map<ServerId, ServerRow> servers;
    sql::Statement all(connection,
                       "SELECT id, number, id_high_water, last_group, fence, used FROM server");
    for (auto row = all.query({}); row.next();)
        servers[ServerId{row.bits(0)}] = {.number = row.small(1),
                                          .id_high_water = row.natural(2),
                                          .last_group = row.natural(3),
                                          .fence = row.natural(4),
                                          .used = row.natural(5)};
    return servers;
}

}  // namespace perdure::store::postgres
