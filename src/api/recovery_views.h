// Entries of the ledger as JSON (docs/protocol/http.md).
#pragma once

#include "ports/catalogue.h"
#include "wire/json_writer.h"

namespace perdure {

void write_recovery(JsonWriter& out, const RecoveryLine& line);
// As the field `recoveries`, oldest first: a story is read from its beginning.
void write_recoveries_of_job(JsonWriter& out, const RecoveryPage& page);

}  // namespace perdure
