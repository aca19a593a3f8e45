// ByteBudget: the one account of all bytes in flight on all connections (C8). A holder of bytes
// holds a ByteCharge for them; core/worker/bytes_in_flight.h decides who may have one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/worker/bytes_in_flight.h"

namespace perdure {

// What a connection may hold without being counted: almost every request and answer.
inline constexpr std::size_t uncounted_max = std::size_t{4} << 10;

class ByteBudget {
public:
    explicit ByteBudget(std::size_t budget) : budget_(budget) {}

    std::size_t budget() const { return budget_; }
    std::size_t in_flight() const { return in_flight_; }
    std::uint64_t refused() const { return refused_; }

    bool take(std::size_t bytes, BytesFor what) {
        const BytesFacts facts{budget_, in_flight_, bytes, what};
        if (decide_bytes(facts) == BytesDecision::take) {
            take_anyway(bytes);
            return true;
        }
        ++refused_;
        return false;
    }
    // For what has already happened and must be answered.
    void take_anyway(std::size_t bytes) {
        in_flight_ += bytes;
        recent_ = std::max(recent_, in_flight_);
        peak_ = std::max(peak_, in_flight_);
    }
    void release(std::size_t bytes) { in_flight_ -= bytes; }

    // Once a second. True: a peak is over, free memory can be given back to the system.
    bool peak_is_over() {
        const auto decision = decide_peak({peak_, recent_, quiet_looks_});
        recent_ = in_flight_;
        quiet_looks_ = decision.quiet_looks;
        if (decision.give_back) peak_ = in_flight_;
        return decision.give_back;
    }

private:
    std::size_t budget_;
    std::size_t in_flight_ = 0;
    std::size_t recent_ = 0;
    std::size_t peak_ = 0;
    unsigned quiet_looks_ = 0;
    std::uint64_t refused_ = 0;
};

// Bytes that somebody holds; given back when this ends. Starts without any.
class ByteCharge {
public:
    ByteCharge() = default;
    explicit ByteCharge(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
    ByteCharge(ByteCharge&& other) noexcept
        : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
    ByteCharge& operator=(ByteCharge&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~ByteCharge() {
        if (bytes_ > 0) budget_->release(bytes_);
    }

    // To `bytes` in all. False: there is no room for more; the charge is as it was.
    bool resize(std::size_t bytes, BytesFor what) {
        bytes = counted(bytes);
        if (bytes > bytes_ && !budget_->take(bytes - bytes_, what)) return false;
        if (bytes < bytes_) budget_->release(bytes_ - bytes);
        bytes_ = bytes;
        return true;
    }
    void resize_anyway(std::size_t bytes) {
        bytes = counted(bytes);
        if (bytes > bytes_) budget_->take_anyway(bytes - bytes_);
        if (bytes < bytes_) budget_->release(bytes_ - bytes);
        bytes_ = bytes;
    }
    std::size_t bytes() const { return bytes_; }

private:
    static std::size_t counted(std::size_t bytes) { return bytes <= uncounted_max ? 0 : bytes; }

    std::shared_ptr<ByteBudget> budget_;
    std::size_t bytes_ = 0;
};

}  // namespace perdure
