// Probes: `reached<"name">()` marks a rare branch. Every probe of the program is known from its
// start, so that a report can list the ones that no run has reached. Counting costs one increment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perdure {

template <std::size_t N>
struct ProbeName {
    char text[N] = {};
    constexpr ProbeName(const char (&name)[N]) { std::copy_n(name, N, text); }
};

class Probe {
public:
    explicit Probe(std::string_view name) : name_(name), next_(first_) { first_ = this; }

    void hit() { ++count_; }
    void add(std::uint64_t hits) { count_ += hits; }
    std::string_view name() const { return name_; }
    std::uint64_t count() const { return count_; }
    Probe* next() const { return next_; }
    static Probe* first() { return first_; }

private:
    std::string_view name_;
    std::uint64_t count_ = 0;
    Probe* next_;
    static inline constinit Probe* first_ = nullptr;
};

template <ProbeName name>
inline Probe probe{std::string_view(name.text, sizeof(name.text) - 1)};

template <ProbeName name>
void reached() {
    probe<name>.hit();
}

}  // namespace perdure
