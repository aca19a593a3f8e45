// HttpCaller: one kept-alive connection to a server, as cheap as it can be made, because whoever
// measures shares the machine with what is measured. Requests are bytes that were put together
// beforehand. Blocking.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perdure {

// A whole request, ready to be sent any number of times.
std::string request_bytes(std::string_view method, std::string_view target,
                          std::string_view body = {});

struct HttpAnswer {
    unsigned status = 0;
    std::string_view body;  // until the next call
};

class HttpCaller {
public:
    static Result<HttpCaller> connect(std::uint16_t port);
    HttpCaller(HttpCaller&& other) noexcept;
    HttpCaller& operator=(HttpCaller&&) = delete;
    ~HttpCaller();

    // From now on a call that is not answered for so long fails.
    void set_patience(std::chrono::milliseconds patience);
    Result<HttpAnswer> call(std::string_view bytes);

    // The same in two halves, for those who wait on many connections at once.
    Result<void> send(std::string_view bytes);
    // Reads what is there; nothing yet: the answer is not complete.
    Result<std::optional<HttpAnswer>> receive_some();
    // Reads without looking at it, for answers that come in pieces. Empty: the peer has left.
    Result<std::string_view> receive_raw();
    int descriptor() const { return socket_; }

private:
    explicit HttpCaller(int socket) : socket_(socket) {}
    std::optional<HttpAnswer> parse();

    int socket_;
    std::string in_;
    std::size_t used_ = 0;   // what the last answer took of in_
    std::size_t whole_ = 0;  // head and body, as soon as the head is there
    std::size_t head_ = 0;
};

}  // namespace perdure
