// Fields: a record as those fields in which it differs from a usual one. A record is described
// once, as a function that shows its fields to a visitor, and that serves all three of them:
//   FieldBits    which fields differ
//   FieldWriter  writes those
//   FieldReader  reads those, and gives the others their usual values
// Usual values belong to a form of the record and never change: later defaults change no old row.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/engine/rows/bytes.h"
#include "store/engine/rows/codec.h"

namespace perdure::store {

// Which of up to 64 things are there.
class Flags {
public:
    Flags() = default;
    explicit Flags(std::uint64_t bits) : bits_(bits) {}
    bool put(bool flag) {
        bits_ |= static_cast<std::uint64_t>(flag) << next_++;
        return flag;
    }
    bool get() { return (bits_ >> next_++ & 1) != 0; }
    std::uint64_t bits() const { return bits_; }
    // No flag is set behind those that were asked for.
    bool is_used_up() const { return next_ >= 64 || bits_ >> next_ == 0; }

private:
    std::uint64_t bits_ = 0;
    unsigned next_ = 0;
};

// The last of each, so that an unknown one is noticed.
constexpr Cause last_of(Cause) { return last_cause; }
constexpr Effects last_of(Effects) { return Effects::once; }
constexpr Growth last_of(Growth) { return Growth::exponential; }
constexpr Isolation last_of(Isolation) { return Isolation::exclusive; }
constexpr BlobRef::Where last_of(BlobRef::Where) { return BlobRef::Where::apart; }
constexpr Level last_of(Level) { return Level::critical; }
constexpr PolicyLevel last_of(PolicyLevel) { return PolicyLevel::server; }
constexpr PolicyName last_of(PolicyName) { return PolicyName::forever; }
constexpr Ran last_of(Ran) { return Ran::yes; }

// --- one field -----------------------------------------------------------------------------------

inline void put(ByteWriter& out, const std::string& text) { out.text(text); }
inline void get(ByteReader& in, std::string& text) { text = in.text(); }

template <std::unsigned_integral Number>
void put(ByteWriter& out, Number number) {
    out.number(number);
}
template <std::unsigned_integral Number>
void get(ByteReader& in, Number& number) {
    const auto value = in.number();
    if (value > std::numeric_limits<Number>::max()) fail_corrupt("a stored number is too large");
    number = static_cast<Number>(value);
}
inline void put(ByteWriter& out, std::int32_t number) { out.integer(number); }
inline void get(ByteReader& in, std::int32_t& number) {
    const auto value = in.integer();
    if (value > INT32_MAX || value < INT32_MIN) fail_corrupt("a stored number is too large");
    number = static_cast<std::int32_t>(value);
}

template <class Enum>
requires std::is_enum_v<Enum>
void put(ByteWriter& out, Enum value) { out.choice(value); }
template <class Enum>
requires std::is_enum_v<Enum>
void get(ByteReader& in, Enum& value) { value = in.choice(last_of(Enum{})); }

inline void put(ByteWriter& out, Duration duration) { out.integer(duration.us); }
inline void get(ByteReader& in, Duration& duration) { duration = {in.span()}; }
template <class Clock>
void put(ByteWriter& out, Instant<Clock> at) {
    out.at(at);
}
template <class Clock>
void get(ByteReader& in, Instant<Clock>& at) {
    at = in.at<Instant<Clock>>();
}
template <class Tag>
void put(ByteWriter& out, Id<Tag> id) {
    out.number(id.value);
}
template <class Tag>
void get(ByteReader& in, Id<Tag>& id) {
    id = {in.id()};
}
inline void put(ByteWriter& out, Epoch epoch) { out.number(epoch.value); }
inline void get(ByteReader& in, Epoch& epoch) { epoch = {in.small()}; }

template <class A, class B>
void put(ByteWriter& out, const std::pair<A, B>& both) {
    put(out, both.first);
    put(out, both.second);
}
template <class A, class B>
void get(ByteReader& in, std::pair<A, B>& both) {
    get(in, both.first);
    get(in, both.second);
}
template <class T>
void put(ByteWriter& out, const std::vector<T>& list) {
    out.number(list.size());
    for (const auto& one : list) put(out, one);
}
template <class T>
void get(ByteReader& in, std::vector<T>& list) {
    list.resize(in.count());
    for (auto& one : list) get(in, one);
}
// There is one: an absent one is the usual.
template <class T>
void put(ByteWriter& out, const std::optional<T>& value) {
    put(out, *value);
}
template <class T>
void get(ByteReader& in, std::optional<T>& value) {
    get(in, value.emplace());
}

inline bool is_nothing(const std::string& text) { return text.empty(); }
template <class T>
bool is_nothing(const std::vector<T>& list) {
    return list.empty();
}
template <class T>
bool is_nothing(const std::optional<T>& value) {
    return !value;
}
template <class T>
bool is_nothing(const T& value) {
    return value == T{};
}

// --- all fields of a record ----------------------------------------------------------------------

class FieldBits {
public:
    template <class T>
    void operator()(const T& value, const T& usual) {
        flags_.put(!(value == usual));
    }
    // Usually empty, absent or zero.
    template <class T>
    void operator()(const T& value) {
        flags_.put(!is_nothing(value));
    }
    void flag(bool value) { flags_.put(value); }
    // A static text, kept for the life of the process when it is read.
    void rule(std::string_view value, std::string_view usual) { flags_.put(value != usual); }
    // Usually nothing, and written in its own way.
    template <class T, class Put, class Get>
    void with(const T& value, Put, Get) {
        flags_.put(!is_nothing(value));
    }

    std::uint64_t bits() const { return flags_.bits(); }

private:
    Flags flags_;
};

class FieldWriter {
public:
    FieldWriter(ByteWriter& out, std::uint64_t bits) : out_(out), flags_(bits) {}

    template <class T>
    void operator()(const T& value, const T&) {
        if (flags_.get()) put(out_, value);
    }
    template <class T>
    void operator()(const T& value) {
        if (flags_.get()) put(out_, value);
    }
    void flag(bool) { flags_.get(); }
    void rule(std::string_view value, std::string_view) {
        if (flags_.get()) out_.text(value);
    }
    template <class T, class Put, class Get>
    void with(const T& value, Put put_it, Get) {
        if (flags_.get()) put_it(out_, value);
    }

private:
    ByteWriter& out_;
    Flags flags_;
};

class FieldReader {
public:
    explicit FieldReader(ByteReader& in) : in_(in), flags_(in.number()) {}

    template <class T>
    void operator()(T& value, const T& usual) {
        if (flags_.get()) {
            get(in_, value);
        } else {
            value = usual;
        }
    }
    template <class T>
    void operator()(T& value) {
        value = T{};
        if (flags_.get()) get(in_, value);
    }
    void flag(bool& value) { value = flags_.get(); }
    void rule(std::string_view& value, std::string_view usual) {
        value = flags_.get() ? interned(in_.text()) : usual;
    }
    template <class T, class Put, class Get>
    void with(T& value, Put, Get get_it) {
        if (flags_.get()) get_it(in_, value);
    }
    void end() const {
        if (!flags_.is_used_up()) fail_corrupt("a stored row has fields that are not known");
        in_.end();
    }

private:
    ByteReader& in_;
    Flags flags_;
};

// `show` shows a record's fields to a visitor.
template <class Show>
std::string write_fields(std::uint64_t form, Show show) {
    FieldBits bits;
    show(bits);
    ByteWriter out;
    out.number(form);
    out.number(bits.bits());
    FieldWriter writer(out, bits.bits());
    show(writer);
    return out.take();
}

}  // namespace perdure::store
