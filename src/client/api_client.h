// ApiClient: requests to a Perdure server, for the command line and for tests. Blocking: each call
// runs its own loop and returns when it is answered, timed out or interrupted.
//   unavailable      no server could be reached, or the request had no effect: it may be repeated
//   outcome_unknown  the connection broke after something other than a GET had been sent
//   invalid          the URL cannot be understood
// What the server refuses is no error here: see ApiReply, or take() it.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/time.h"
#include "client/http_link.h"

namespace perdure {

struct ApiReply {
    unsigned status = 0;
    boost::json::value body;  // null if the answer is no JSON
    std::string text;         // the body as it came

    bool ok() const { return status >= 200 && status < 300; }
    // Of an answer that is not ok: the server's code, sentence and JSON path.
    Error error() const;
    std::string path() const;
};

// What a streamed answer says before its bytes: the headers Perdure-Epoch and Perdure-Offset.
struct StreamHead {
    std::uint32_t epoch = 0;
    std::uint64_t offset = 0;
};

class ApiClient {
public:
    struct Options {
        std::vector<std::string> urls;  // tried in this order: http://HOST:PORT
        std::shared_ptr<const Credentials> credentials = {};
        Duration connect_timeout = seconds(2);
        Duration timeout = seconds(10);  // of a whole request; streams: between two pieces
        // Asked ten times a second while a call waits; true ends it with `unavailable`.
        std::function<bool()> interrupted;
    };

    explicit ApiClient(Options options);
    ~ApiClient();
    ApiClient(const ApiClient&) = delete;
    ApiClient& operator=(const ApiClient&) = delete;

    // `body` is JSON text; empty: none. `timeout` instead of the usual one, for instance for
    // GET /v1/jobs/ID/wait?for=60s.
    Result<ApiReply> request(std::string_view method, std::string_view target,
                             std::string body = {}, std::optional<Duration> timeout = {});

    // GET whose answer is followed piece by piece. `piece` may return false: enough. The reply has
    // the status, and the body if it was refused. Any error: the connection broke in between; go on
    // at the offset that you have counted. There is no timeout between two pieces.
    using Head = std::function<void(const StreamHead&)>;
    using Piece = std::function<bool(std::string_view bytes)>;
    Result<ApiReply> stream(std::string_view target, Head head, Piece piece);

    // The URL that answered last.
    const std::string& url() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The body of an answer that is ok, otherwise the server's error.
Result<boost::json::value> take(Result<ApiReply> reply);

}  // namespace perdure
