// The types of PostgreSQL that are used, by their numbers, which no release changes.
#pragma once

#include <libpq-fe.h>

namespace perdure::store::postgres {

inline constexpr Oid type_bool = 16;
inline constexpr Oid type_bytes = 17;
inline constexpr Oid type_int8 = 20;
inline constexpr Oid type_int2 = 21;
inline constexpr Oid type_int4 = 23;
inline constexpr Oid type_text = 25;
inline constexpr Oid type_bytes_array = 1001;
inline constexpr Oid type_text_array = 1009;
inline constexpr Oid type_int8_array = 1016;

}  // namespace perdure::store::postgres
