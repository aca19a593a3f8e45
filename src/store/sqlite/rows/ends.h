// How an attempt ended, field by field: in entries of the ledger, and in attempts of form 1.
#pragma once

#include "core/cause.h"
#include "store/sqlite/rows/bytes.h"

namespace perdure::sqlite {

void put_end(ByteWriter& out, const AttemptEnd& end);
AttemptEnd get_end(ByteReader& in);

}  // namespace perdure::sqlite
