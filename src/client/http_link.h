// HttpLink: one kept-alive connection to a server, for one call at a time. Coroutines over Beast;
// what they share is kept alive by their frames.
//   unavailable      not connected, or not everything could be sent: nothing was done
//   outcome_unknown  sent, and then the connection broke or the time was up
//   corrupt          the answer is no HTTP
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/url.h"
#include "ports/task.h"

namespace perdure {

struct HttpCall {
    std::string method = "GET";
    std::string target;
    std::string body;
    std::string_view content_type = "application/json";
};

struct HttpReply {
    unsigned status = 0;
    std::string body;
    std::uint32_t epoch = 0;   // the header Perdure-Epoch
    std::uint64_t offset = 0;  // the header Perdure-Offset
};

// What a client has to show, and to whom. A unix socket needs no token: the kernel says who we are.
struct Credentials {
    std::string token;                        // empty: none
    std::vector<std::uint32_t> server_users;  // whose servers are believed, besides ours and root's
};

class HttpLink {
public:
    // With credentials, a server on this host is asked nothing before it is known whose it is:
    // forbidden, if it is somebody else's.
    HttpLink(Executor executor, Url url, std::shared_ptr<const Credentials> credentials = {});

    Task<Result<void>> connect(Duration timeout);
    // Connected, and the peer has not left as far as can be seen without waiting.
    bool is_usable() const;
    Task<Result<HttpReply>> call(HttpCall call, Duration timeout);

    // An answer that comes in pieces: first its head (with the body, unless the status is 200),
    // then piece by piece; an empty piece is its proper end.
    Task<Result<HttpReply>> begin(HttpCall call, Duration timeout);
    Task<Result<std::string>> next_piece(Duration timeout);

    void close();

private:
    struct State;
    static Task<Result<void>> connect_state(std::shared_ptr<State> state, Duration timeout);
    static Task<Result<void>> connect_socket(std::shared_ptr<State> state, Duration timeout);
    static Task<Result<void>> meet(std::shared_ptr<State> state, Duration timeout);
    static Task<Result<HttpReply>> call_state(std::shared_ptr<State> state, HttpCall call,
                                              Duration timeout);
    static Task<Result<HttpReply>> begin_state(std::shared_ptr<State> state, HttpCall call,
                                               Duration timeout);
    static Task<Result<std::string>> piece_of_state(std::shared_ptr<State> state, Duration timeout);
    static Task<Result<void>> send(std::shared_ptr<State> state, HttpCall call);

    std::shared_ptr<State> state_;
};

}  // namespace perdure
