// Transcripts: the ``` blocks of docs/protocol, replayed against a server. In answers `"…"` stands
// for any value, `"…": "…"` for further fields; an id stands for whichever id came first there, and
// a time for any time.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perdure::wire_tests {

struct Block {
    std::string kind;  // "http", "stream", "logs"
    std::string first_line;
    std::string body;
    unsigned status = 0;
    std::string answer;
    std::size_t line = 0;  // where it begins on the page
};

std::vector<Block> blocks_of(const std::string& page);

// Which id of the server an id of the page stands for.
using Names = std::map<std::string, std::string, std::less<>>;
std::string translate(std::string text, const Names& names);

// Empty if `given` is what the page says; otherwise where they differ. Binds new names.
std::string difference(const boost::json::value& page, const boost::json::value& given,
                       Names& names);

}  // namespace perdure::wire_tests
