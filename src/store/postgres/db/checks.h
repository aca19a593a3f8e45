// Checks: whether a server keeps what it has promised, asked on every connection that writes.
#pragma once

#include <functional>
#include <string>

#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

struct StorageTerms {
    bool durable = true;
    bool trusts_storage = false;
    std::function<void(const std::string&)> warn = {};
};

// A Failure says what is wrong and what to do.
void check_server(Connection& connection, const StorageTerms& terms);

// One life of one database: a copy, or a standby that was promoted, is another one (C6).
struct Generation {
    std::string system;
    std::string timeline;
    friend bool operator==(const Generation&, const Generation&) = default;
};
Generation generation_of(Connection& connection);

}  // namespace perdure::store::postgres
