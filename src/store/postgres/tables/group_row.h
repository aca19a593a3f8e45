// GroupRow: the row that every group begins with. It is the fence (C1): it cannot be written by
// another epoch than the cell's, nor without its predecessor, nor twice. It carries what every
// group changes: service time and the servers' marks.
#pragma once

#include <cstdint>
#include <map>

#include "store/engine/rows/rows.h"
#include "store/postgres/db/connection.h"

namespace perdure::store::postgres {

class GroupRow {
public:
    GroupRow();

    void send(Connection& connection, std::int64_t number, std::int64_t epoch,
              const ServiceRow& service, const std::map<ServerId, ServerRow>& servers);

private:
    Text insert_, remove_old_;
};

std::map<ServerId, ServerRow> read_servers(Connection& connection);

}  // namespace perdure::store::postgres
