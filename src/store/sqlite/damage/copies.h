// Copies: the rows of `service` and `server`, which nothing can go on without, and their copies
// (C9). Both are written together. Reading restores one that is damaged from the other; if both
// are, it is a Failure that names the row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/engine/damage_book.h"
#include "store/engine/rows/rows.h"
#include "store/sqlite/db/statement.h"

namespace perdure::store::sqlite {

// The form of a copy, and of service time in an idle note (db/idle_file.h).
std::string encode_copy(const ServiceRow& row);
std::string encode_copy(const ServerRow& row);
void decode_copy(std::string_view bytes, ServiceRow& row);
void decode_copy(std::string_view bytes, ServerRow& row);
// Of the id as well: a row that has moved is not what it was.
std::int64_t checksum_of(std::int64_t id, std::string_view body);

class Copies {
public:
    Copies(Connection& connection, DamageBook& book);

    ServiceRow service();
    std::map<ServerId, ServerRow> servers();

    void save(const ServiceRow& service);
    void save(ServerId id, const ServerRow& server);
    void remove(ServerId id);

private:
    template <class Row>
    struct Twice {
        std::optional<Row> row, copy;  // as far as they are good
    };

    std::map<std::int64_t, Twice<ServerRow>> read_servers();
    void drop_displaced(std::map<std::int64_t, Twice<ServerRow>>& all);
    std::optional<std::string> good_copy(std::int64_t id);
    void report(const char* table, std::int64_t id);

    Connection& connection_;
    DamageBook& book_;
    Statement service_, save_service_, server_, save_server_, update_server_, delete_server_;
    Statement copies_, copy_, save_copy_, delete_copy_;
};

}  // namespace perdure::store::sqlite
