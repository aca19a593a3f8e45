// Result<T>: a value or an Error. Expected failures travel in it, never as exceptions.
// Member names follow std::expected, so that it can become an alias one day.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/error.h"

namespace perdure {

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return content_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() {
        PERDURE_ASSERT(has_value());
        return *std::get_if<0>(&content_);
    }
    const T& value() const {
        PERDURE_ASSERT(has_value());
        return *std::get_if<0>(&content_);
    }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const {
        PERDURE_ASSERT(!has_value());
        return *std::get_if<1>(&content_);
    }
    // True if this is an error with that very code.
    bool is(Errc code) const { return !has_value() && error().code == code; }

private:
    std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    const Error& error() const {
        PERDURE_ASSERT(error_.has_value());
        return *error_;
    }
    bool is(Errc code) const { return error_ && error_->code == code; }

private:
    std::optional<Error> error_;
};

}  // namespace perdure
