#include "wire/json_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "wire/plain.h"
#include "wire/utf8.h"

namespace perdure {
namespace {

using Kind = JsonNode::Kind;

// Up to here, comparing each with each is quicker than sorting.
constexpr std::size_t few_names = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t'); }

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    return number;
}

void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto follow = [&](unsigned shift) { put(0x80U | (code >> shift & 0x3FU)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0U | code >> 6U);
    } else if (code < 0x10000) {
        put(0xE0U | code >> 12U);
        follow(6);
    } else {
        put(0xF0U | code >> 18U);
        follow(12);
        follow(6);
    }
    follow(0);
}

// Goes through the text once. Each function is false at the first thing that does not fit.
class Parser {
public:
    Parser(std::string_view text, JsonTree::Manner manner, std::vector<JsonNode>& nodes,
           std::string& unescaped)
        : text_(text),
          at_(text.data()),
          end_(text.data() + text.size()),
          is_strict_(manner == JsonTree::Manner::strict),
          nodes_(nodes),
          unescaped_(unescaped) {}

    bool document() {
        skip_spaces();
        if (!value()) return false;
        skip_spaces();
        return at_ == end_;
    }

private:
    bool value() {
        switch (at_ == end_ ? '\0' : *at_) {
            case '{': return object();
            case '[': return list();
            case '"': return text(Kind::text);
            case 't': return word("true", Kind::truth);
            case 'f': return word("false", Kind::truth);
            case 'n': return word("null", Kind::null);
            default: return number();
        }
    }

    bool object() {
        const auto* begin = at_;
        const auto place = open(Kind::object);
        if (depth_ > json_depth_max) return false;
        std::size_t names = 0;
        if (!take('}')) {
            do {
                ++names;
                skip_spaces();
                if (!text(Kind::name)) return false;
                skip_spaces();
                if (!take(':')) return false;
                skip_spaces();
                if (!value()) return false;
                skip_spaces();
            } while (take(','));
            if (!take('}')) return false;
        }
        close(place, begin);
        return take_last_of_equal_names(place, names) || !is_strict_;
    }

    bool list() {
        const auto* begin = at_;
        const auto place = open(Kind::list);
        if (depth_ > json_depth_max) return false;
        if (!take(']')) {
            do {
                skip_spaces();
                if (!value()) return false;
                skip_spaces();
            } while (take(','));
            if (!take(']')) return false;
        }
        close(place, begin);
        return true;
    }

    void add(Kind kind, std::string_view text) { nodes_.push_back({.kind = kind, .text = text}); }
    std::size_t open(Kind kind) {
        ++at_;
        ++depth_;
        skip_spaces();
        add(kind, {});
        return nodes_.size() - 1;
    }
    void close(std::size_t place, const char* begin) {
        --depth_;
        nodes_[place].span = static_cast<std::uint32_t>(nodes_.size() - place);
        nodes_[place].text = since(begin);
    }

    bool text(Kind kind) {
        if (!take('"')) return false;
        const auto* begin = at_;
        at_ = skip_plain(at_, end_);
        const auto plain = since(begin);
        if (!take('"')) return unusual_text(kind, plain);
        add(kind, plain);
        return true;
    }

    // With escapes, or with characters beyond ASCII.
    bool unusual_text(Kind kind, std::string_view beginning) {
        unescaped_.reserve(text_.size());
        const auto start = unescaped_.size();
        unescaped_ += beginning;
        while (!take('"')) {
            const auto* begin = at_;
            at_ = skip_plain(at_, end_);
            if (at_ == end_) return false;
            if (const auto length = utf8_length({at_, end_})) at_ += length;
            unescaped_.append(begin, at_);
            if (at_ == begin && !escape()) return false;
        }
        const auto text = std::string_view(unescaped_).substr(start);
        add(kind, text);
        return !is_strict_ || text.find('\0') == std::string_view::npos;
    }

    bool escape() {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (!take('\\') || at_ == end_) return false;
        if (take('u')) return unicode_escape();
        const auto found = letters.find(*at_++);
        if (found == std::string_view::npos) return false;
        unescaped_ += meanings[found];
        return true;
    }
    // A character beyond U+FFFF is written as two, which mean nothing alone.
    bool unicode_escape() {
        auto code = four_digits();
        if (!code || (*code >= 0xDC00 && *code < 0xE000)) return false;
        if (*code >= 0xD800 && *code < 0xDC00) {
            if (!take('\\') || !take('u')) return false;
            const auto low = four_digits();
            if (!low || *low < 0xDC00 || *low >= 0xE000) return false;
            code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
        }
        append_utf8(unescaped_, *code);
        return true;
    }
    std::optional<std::uint32_t> four_digits() {
        std::uint32_t code = 0;
        if (end_ - at_ < 4) return std::nullopt;
        const auto [stop, failure] = std::from_chars(at_, at_ + 4, code, 16);
        if (failure != std::errc{} || stop != at_ + 4) return std::nullopt;
        at_ = stop;
        return code;
    }

    bool number() {
        const auto* begin = at_;
        take('-');
        if (!take('0') && !digits()) return false;
        if (take('.') && !digits()) return false;
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            if (!digits()) return false;
        }
        add(Kind::number, since(begin));
        return !is_strict_ || fits(nodes_.back());
    }
    static bool fits(const JsonNode& number) {
        if (number.whole() || number.natural()) return true;
        const bool is_whole = number.text.find_first_of(".eE") == std::string_view::npos;
        return !is_whole && std::isfinite(*number.real());
    }
    bool digits() {
        const auto* begin = at_;
        while (at_ != end_ && is_digit(*at_)) ++at_;
        return at_ != begin;
    }

    bool word(std::string_view word, Kind kind) {
        const auto* begin = at_;
        at_ += std::min<std::ptrdiff_t>(std::ssize(word), end_ - at_);
        add(kind, since(begin));
        return nodes_.back().text == word;
    }

    // True if there were none. The last of equal names counts.
    bool take_last_of_equal_names(std::size_t place, std::size_t count) {
        auto* first = nodes_.data() + place + 1;
        return count <= few_names ? compare_each(first, count) : compare_sorted(first, count);
    }
    static JsonNode* next_name(JsonNode* name) { return name + 1 + name[1].span; }
    static bool compare_each(JsonNode* first, std::size_t count) {
        bool differ = true;
        for (auto* name = first; count > 1; --count, name = next_name(name)) {
            auto* later = name;
            for (std::size_t i = 1; i < count; ++i) {
                later = next_name(later);
                if (name->text != later->text) continue;
                name->kind = Kind::hidden_name;
                differ = false;
            }
        }
        return differ;
    }
    static bool compare_sorted(JsonNode* first, std::size_t count) {
        std::vector<JsonNode*> names = {first};
        while (names.size() < count) names.push_back(next_name(names.back()));
        std::stable_sort(names.begin(), names.end(),
                         [](const auto* a, const auto* b) { return a->text < b->text; });
        bool differ = true;
        for (std::size_t i = 1; i < count; ++i) {
            if (names[i - 1]->text != names[i]->text) continue;
            names[i - 1]->kind = Kind::hidden_name;
            differ = false;
        }
        return differ;
    }

    void skip_spaces() {
        while (at_ != end_ && is_space(*at_)) ++at_;
    }
    bool take(char c) {
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    std::string_view since(const char* begin) const {
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }

    std::string_view text_;
    const char* at_;
    const char* end_;
    bool is_strict_;
    std::size_t depth_ = 0;
    std::vector<JsonNode>& nodes_;
    std::string& unescaped_;
};

}  // namespace

std::optional<std::int64_t> JsonNode::whole() const {
    return kind == Kind::number ? number_in<std::int64_t>(text) : std::nullopt;
}
std::optional<std::uint64_t> JsonNode::natural() const {
    if (kind != Kind::number) return std::nullopt;
    if (const auto number = number_in<std::uint64_t>(text)) return number;
    if (text == "-0") return 0;
    return std::nullopt;
}
std::optional<double> JsonNode::real() const {
    if (kind != Kind::number) return std::nullopt;
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc{}) return number;
    // Too large, or too small to be told from zero: a large exponent tells which.
    const auto exponent = text.find_first_of("eE");
    const bool small = exponent != std::string_view::npos && text[exponent + 1] == '-';
    return small ? 0.0 : std::numeric_limits<double>::infinity();
}

bool JsonTree::read(std::string_view text, Manner manner) {
    nodes_.clear();
    nodes_.reserve(text.size() / 8 + 8);
    unescaped_.clear();
    return Parser(text, manner, nodes_, unescaped_).document();
}

}  // namespace perdure
