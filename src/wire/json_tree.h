// JsonTree: a JSON text as one list of nodes, in the order of the text. Quick to make: nothing is
// copied but texts with escapes or beyond ASCII, and numbers are understood when they are asked
// for. What was read must outlive the tree: nodes are views into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perdure {

inline constexpr std::size_t json_depth_max = 32;

struct JsonNode {
    // A hidden name is followed by a later one that is equal: that one counts.
    enum class Kind : std::uint8_t { null, truth, number, text, list, object, name, hidden_name };
    Kind kind = Kind::null;
    std::uint32_t span = 1;  // how many nodes this value has, itself included
    std::string_view text;   // what a text or name says; of anything else, how it is written

    // The values of a list, or the names of an object, each followed by its value. A value's
    // neighbour begins where it ends.
    const JsonNode* begin() const { return this + 1; }
    const JsonNode* end() const { return this + span; }

    // Empty unless this is a whole number of that range.
    std::optional<std::int64_t> whole() const;
    std::optional<std::uint64_t> natural() const;
    // Infinite if it is beyond what can be told; empty if this is no number.
    std::optional<double> real() const;
};

class JsonTree {
public:
    // strict: equal names, NUL characters and numbers that do not fit are refused.
    enum class Manner { quick, strict };

    JsonTree() = default;
    JsonTree(const JsonTree&) = delete;
    JsonTree& operator=(const JsonTree&) = delete;

    // False if `text` is not JSON, from its beginning to its end, or too deep.
    bool read(std::string_view text, Manner manner);
    // After a read that was true.
    const JsonNode& root() const { return nodes_.front(); }

private:
    std::vector<JsonNode> nodes_;
    std::string unescaped_;  // never longer than what was read, so that it need not move
};

}  // namespace perdure
