// RequestReader: bytes of one connection into requests. It holds almost nothing while it waits, for
// ten thousand idle connections must cost little.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <memory>
#include <optional>
#include <string_view>

#include "api/api.h"
#include "api/http/connection.h"
#include "api/http/message.h"

namespace perdure {

struct ReadRequest {
    std::optional<Request> request;
    std::optional<Response> refusal;  // answer this and close
    bool keep_alive = false;
    bool is_http_1_0 = false;
    ByteCharge held;  // for the request's body, until it is answered
    // None of the two: the peer has left.
};

// Who speaks: workers have routes of their own, and a reserve (core/worker/bytes_in_flight.h).
Peer peer_of(std::string_view target);
Response too_many_bytes();

class RequestReader {
public:
    RequestReader(Api& api, Connection& connection) : api_(api), connection_(connection) {}

    Task<ReadRequest> next();
    // After a refusal: reads what the peer still sends, for a while, so that it sees the answer.
    Task<void> drain();

private:
    struct Parser;
    Task<bool> read_some(std::size_t size);
    Task<bool> read_into(Parser& parser);
    Task<bool> welcome_body(Parser& parser);
    std::optional<Response> refuse(Parser& parser) const;
    std::optional<Response> timeout_refusal() const;

    Api& api_;
    Connection& connection_;
    boost::beast::flat_buffer buffer_;
};

}  // namespace perdure
