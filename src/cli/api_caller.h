// ApiCaller: the command line's way to a server. Blocking, one call at a time.
//   unavailable      no server was reached, or the call was interrupted: nothing has happened
//   outcome_unknown  the connection broke before the answer: it may have happened
// What a server refuses is an answer, not an error here.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace perdure::cli {

struct ApiAnswer {
    unsigned status = 0;
    bool went_quiet = false;  // a stream: nothing came for so long as the caller wanted to wait
    boost::json::value body;
    std::string text;  // the body as it came
    Error refusal;     // if not ok: the server's code and sentence
    std::string path;  // and the part of the request that is to blame

    bool ok() const { return status >= 200 && status < 300; }
};

struct ApiRequest {
    std::string_view method = "GET";
    std::string target;
    std::string body;
    std::optional<Duration> timeout;
};

class ApiCaller {
public:
    virtual ~ApiCaller() = default;
    virtual Result<ApiAnswer> request(const ApiRequest& request) = 0;
    // A GET whose bytes are handed over as they come; false from `piece` ends it. An error: the
    // connection broke, or a person interrupted.
    using Piece = std::function<bool(std::string_view bytes)>;
    // `patience`: how long to wait for the next bytes; then the answer says that it went quiet.
    virtual Result<ApiAnswer> stream(const std::string& target, std::optional<Duration> patience,
                                     Piece piece) = 0;
    // Where it asks, for messages.
    virtual std::string where() const = 0;
};

}  // namespace perdure::cli
