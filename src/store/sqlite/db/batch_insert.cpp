#include "store/sqlite/db/batch_insert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace perdure::store::sqlite {
namespace {

std::string insert(const std::string& how, std::size_t columns, std::size_t rows) {
    std::string row = "(?";
    for (std::size_t i = 1; i < columns; ++i) row += ", ?";
    row += ")";
    auto sql = how + " VALUES " + row;
    for (std::size_t i = 1; i < rows; ++i) sql += ", " + row;
    return sql;
}

std::vector<std::size_t> all_but(const std::vector<std::size_t>& own, std::size_t columns) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < columns; ++i)
        if (std::find(own.begin(), own.end(), i) == own.end()) others.push_back(i);
    return others;
}

// The first parameters are the shared columns, then come each row's own ones.
std::string insert_alike(const std::string& how, const std::vector<std::size_t>& own,
                         const std::vector<std::size_t>& shared, std::size_t rows) {
    auto sql = how + " VALUES ";
    std::vector<std::size_t> parameter(own.size() + shared.size());
    for (std::size_t i = 0; i < shared.size(); ++i) parameter[shared[i]] = i + 1;
    auto last = shared.size();
    for (std::size_t row = 0; row < rows; ++row) {
        for (const auto column : own) parameter[column] = ++last;
        sql += fmt::format("{}(?{})", row > 0 ? ", " : "", fmt::join(parameter, ", ?"));
    }
    return sql;
}

bool has_bytes(const Value& value) {
    return value.kind == Value::Kind::text || value.kind == Value::Kind::blob;
}

bool are_same(const Value& a, const Value& b) {
    if (a.kind != b.kind) return false;
    return has_bytes(a) ? a.bytes == b.bytes : a.number == b.number;
}

}  // namespace

BatchInsert::BatchInsert(Connection& connection, const std::string& how, std::size_t columns,
                         std::vector<std::size_t> own)
    : columns_(columns),
      own_(std::move(own)),
      shared_(all_but(own_, columns_)),
      alike_sql_(insert_alike(how, own_, shared_, rows_max)),
      many_sql_(insert(how, columns_, rows_max)),
      one_sql_(insert(how, columns_, 1)),
      alike_(connection, alike_sql_.c_str()),
      many_(connection, many_sql_.c_str()),
      one_(connection, one_sql_.c_str()) {
    waiting_.reserve(columns_ * rows_max);
    bound_.reserve(columns_ * rows_max);
    bytes_.reserve(bytes_max);
}

bool BatchInsert::is_like_the_first(std::initializer_list<Value> row) const {
    return std::all_of(shared_.begin(), shared_.end(), [&](std::size_t column) {
        return are_same(waiting_[column], row.begin()[column]);
    });
}

void BatchInsert::add(std::initializer_list<Value> row) {
    std::size_t size = 0;
    for (const auto& value : row) size += value.bytes.size();
    if (bytes_.size() + size > bytes_max) finish();
    if (size > bytes_max) return one_.run_one(row);
    are_alike_ = waiting_.empty() || (are_alike_ && is_like_the_first(row));
    for (const auto& value : row) {
        auto& kept = waiting_.emplace_back(value);
        if (!has_bytes(value)) continue;
        const auto start = bytes_.size();
        bytes_.append(value.bytes);
        kept.bytes = std::string_view(bytes_).substr(start);
    }
    if (waiting_.size() == columns_ * rows_max) write_many();
}

void BatchInsert::write_many() {
    const int written = are_alike_ ? write_alike() : many_.run(waiting_.data(), waiting_.size());
    if (written != static_cast<int>(rows_max))
        fail_corrupt("not every row was written: " + many_sql_);
    waiting_.clear();
    bytes_.clear();
}

int BatchInsert::write_alike() {
    bound_.clear();
    for (const auto column : shared_) bound_.push_back(waiting_[column]);
    for (std::size_t row = 0; row < waiting_.size(); row += columns_)
        for (const auto column : own_) bound_.push_back(waiting_[row + column]);
    return alike_.run(bound_.data(), bound_.size());
}

void BatchInsert::finish() {
    for (std::size_t i = 0; i < waiting_.size(); i += columns_)
        if (one_.run(waiting_.data() + i, columns_) != 1)
            fail_corrupt("a row was not written: " + one_sql_);
    waiting_.clear();
    bytes_.clear();
}

}  // namespace perdure::store::sqlite
