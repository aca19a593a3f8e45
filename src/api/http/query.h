// QueryReader: the parameters of a target, each asked for once; what nobody asked for is refused,
// with its name as the path (`?limit`).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/http/message.h"
#include "base/time.h"
#include "wire/json_reader.h"

namespace perdure {

class QueryReader {
public:
    explicit QueryReader(const Request& request) : request_(request) {}

    std::optional<std::string> text(std::string_view name);
    std::uint64_t number(std::string_view name, std::uint64_t usual, std::uint64_t least,
                         std::uint64_t most);
    Duration duration(std::string_view name, Duration usual, Duration most);
    std::string tenant() { return text("tenant").value_or("default"); }

    void parse_error(std::string_view name, std::string what);
    // The first thing that was wrong, unknown names included. Ask when everything has been read.
    std::optional<ParseError> finish();

private:
    const Request& request_;
    std::set<std::string, std::less<>> known_;
    std::optional<ParseError> parse_error_;
};

}  // namespace perdure
