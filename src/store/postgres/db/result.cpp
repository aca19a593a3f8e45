#include "store/postgres/db/result.h"

#include "store/postgres/db/types.h"

namespace perdure::store::postgres {

void ResultRows::set(ResultPtr result) {
    result_ = std::move(result);
    rows_in_ = result_.get();
    row_ = -1;
    rows_ = PQntuples(rows_in_);
}

bool ResultRows::is_null(int column) const { return PQgetisnull(rows_in_, row_, column) != 0; }

// Numbers of all widths; whatever else it is counts as none.
std::int64_t ResultRows::number(int column) const {
    if (is_null(column)) return 0;
    const auto content = bytes(column);
    std::uint64_t value = 0;
    for (const char c : content) value = value << 8 | static_cast<unsigned char>(c);
    switch (PQftype(rows_in_, column)) {
        case type_int2: return static_cast<std::int16_t>(value);
        case type_int4: return static_cast<std::int32_t>(value);
        case type_int8:
        case type_bool: return static_cast<std::int64_t>(value);
        default: return 0;
    }
}

std::string_view ResultRows::bytes(int column) const {
    return {PQgetvalue(rows_in_, row_, column),
            static_cast<std::size_t>(PQgetlength(rows_in_, row_, column))};
}

bool ResultRows::is_text(int column) const { return PQftype(rows_in_, column) == type_text; }

std::string ResultRows::name(int column) const { return PQfname(rows_in_, column); }

}  // namespace perdure::store::postgres
