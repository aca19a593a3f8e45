// ConnectionLoop: one connection of a client. Reads requests, has them answered one after another,
// and keeps within its limits: header, body and idle time, sizes. An exception of a library ends
// here.
#pragma once

#include <memory>

#include "api/api.h"
#include "api/http/connection.h"
#include "api/http/message.h"
#include "ports/task.h"

namespace perdure {

inline constexpr std::size_t header_max = std::size_t{16} << 10;
inline constexpr std::size_t target_max = 8'000;

// Until the peer leaves, is cut off, or the server stops. Holds what it needs: `api` outlives it.
Task<void> serve(std::shared_ptr<Api> api, std::shared_ptr<Connection> connection);

// The head of an answer, up to and with the empty line.
enum class Framing { length, chunked, until_close };
struct HeadFacts {
    Framing framing = Framing::length;
    bool keep_alive = true;
};
void append_head(std::string& out, const Response& response, HeadFacts facts);

}  // namespace perdure
