// Attempts and lives as earlier releases wrote them. They are read, never written.
#pragma once

#include "store/engine/rows/bytes.h"
#include "store/engine/rows/rows.h"

namespace perdure::store {

// What follows the number of the form.
AttemptRow get_attempt_of_form_1(ByteReader& in);
void get_life_of_form_1(ByteReader& in, JobRow& job);

}  // namespace perdure::store
