// What an error of PostgreSQL means to us.
#pragma once

#include <libpq-fe.h>

#include <string>

#include "store/engine/failure.h"

namespace perdure::store::postgres {

// The reaction that fits the error, by its SQLSTATE.
Failure failure_of(const PGresult* result);
// The backend ends with it.
bool ends_session(const PGresult* result);
// Without line ends at its end; those within become blanks.
std::string trimmed(const char* message);

}  // namespace perdure::store::postgres
