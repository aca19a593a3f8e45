// Tap: sees every message of a simulation before it is sent, and may take it away, to let it
// arrive later, twice or never. Stories have one; campaigns do not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ports/store.h"
#include "wire/worker_protocol.h"

namespace perdure::sim {

struct Message {
    // request and answer: between nodes. commit and committed: between a server and the store.
    enum class Leg { request, answer, commit, committed } leg = Leg::request;
    std::string what;          // its names, each followed by a space
    std::uint32_t sender = 0;  // the number of the node; on the way to the store, of the life
    std::uint32_t target = 0;  // the number of the node; the store has none
    std::function<void()> go_on;
    std::function<void()> break_off{};  // commit: the connection breaks, its outcome is unknown
};

class Tap {
public:
    virtual ~Tap() = default;
    // True: it is the tap's now.
    virtual bool takes(const Message& message) = 0;
};

std::string names_of(const ReportRequest& request);
std::string names_of(const StreamMessage& message);
std::string names_of(const Group& group);

}  // namespace perdure::sim
