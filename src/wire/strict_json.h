// StrictJson: a tree from JSON text, refusing what a lenient reader would pass over in silence:
// duplicate names, NUL characters, whole numbers beyond 64 bits and numbers that are infinite.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string_view>

namespace perdure {

struct ParseError;

class StrictJson {
public:
    explicit StrictJson(boost::json::storage_ptr memory);
    ~StrictJson();
    StrictJson(const StrictJson&) = delete;
    StrictJson& operator=(const StrictJson&) = delete;

    std::optional<ParseError> parse(std::string_view text, boost::json::value& into);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace perdure
