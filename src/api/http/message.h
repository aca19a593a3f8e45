// One request and its answer, apart from any connection. Handlers see nothing else of HTTP.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/job/who.h"
#include "ports/changes.h"
#include "ports/task.h"

namespace perdure {

enum class Method { get, post, put, other };

constexpr std::string_view to_string(Method method) {
    switch (method) {
        case Method::get: return "GET";
        case Method::post: return "POST";
        case Method::put: return "PUT";
        case Method::other: return "";
    }
    return "";
}

struct Request {
    Method method = Method::get;
    std::string path;                                        // decoded, without the query
    std::vector<std::pair<std::string, std::string>> query;  // decoded, as given
    std::vector<std::string> names;                          // what the route's {} stand for
    std::string content_type;
    std::string authorization;  // as the header has it
    bool is_forwarded = false;  // a proxy says that it passes this on for somebody else
    std::string caller;         // who asks, once that was judged; for people
    Who who;                    // the same, as it is kept with jobs (W1)
    // It comes from inside an attempt, through its worker: then `who` is whoever submitted that.
    std::optional<ByAttempt> by;
    std::uint64_t number_inside = 0;  // then: what is asked again has the same
    std::string tenant;               // that the caller is bound to; empty: none
    std::string body;
    // Becomes true if the peer goes while a read is carried out. Empty: nobody looks.
    std::shared_ptr<std::atomic<bool>> gone = nullptr;
};

struct Response {
    unsigned status = 200;
    std::string body;
    std::string_view content_type = "application/json";
    std::vector<std::pair<std::string_view, std::string>> headers;
    std::string subject = {};  // what was made, for the audit log
    std::optional<Errc> refused_as = {};
};

// Who counts the bytes of a piece while it is under way (C8): the connection, or the caller, who
// has counted them since they were made.
enum class CountedBy { connection, caller };

// An answer that is sent piece by piece. False: the peer is gone, or too slow, or there is no room
// for the piece; end soon.
class ChunkedBody {
public:
    virtual ~ChunkedBody() = default;
    virtual Task<bool> begin(Response head) = 0;
    virtual Task<bool> send(std::string bytes, CountedBy counted_by = CountedBy::connection) = 0;
    // Gives up what is being sent: the peer does not read it. send() returns false soon.
    virtual void give_up() = 0;
    // Looks at the connection without waiting.
    virtual bool peer_is_gone() = 0;
};

// The path and query of a target, decoded; nothing if it is malformed.
std::optional<Request> read_target(std::string_view target);

}  // namespace perdure
