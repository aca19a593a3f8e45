// How an attempt ended, field by field: in entries of the ledger, and in attempts of form 1.
#pragma once

#include "core/policy/cause.h"
#include "store/engine/rows/bytes.h"

namespace perdure::store {

void put_end(ByteWriter& out, const AttemptEnd& end);
AttemptEnd get_end(ByteReader& in);

}  // namespace perdure::store
