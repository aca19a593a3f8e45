// ServerApi: a worker's way to the servers. Every call names the server it wants, so that the
// worker decides when to try the next one. Calls answer within their timeout; an error says
// nothing about whether the server acted, so everything sent here may be repeated.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "ports/task.h"
#include "wire/inside.h"
#include "wire/worker_protocol.h"

namespace perdure {

class Stream {
public:
    virtual ~Stream() = default;
    // The next messages. An error ends the stream.
    virtual Task<Result<std::vector<StreamMessage>>> next() = 0;
    // Makes a pending next() answer with an error, soon.
    virtual void close() = 0;
};

class ServerApi {
public:
    virtual ~ServerApi() = default;
    virtual std::size_t server_count() const = 0;
    virtual Task<Result<OpenAnswer>> open(std::size_t server, OpenRequest request) = 0;
    virtual Task<Result<std::shared_ptr<Stream>>> open_stream(std::size_t server,
                                                              SessionId session) = 0;
    virtual Task<Result<HeartbeatAnswerMessage>> heartbeat(std::size_t server,
                                                           HeartbeatRequest request) = 0;
    virtual Task<Result<ReportResponse>> report(std::size_t server, ReportRequest request) = 0;
    virtual Task<Result<LogResponse>> logs(std::size_t server, LogRequest request) = 0;
    // fenced: the attempt is not the one that runs, or not this session's. What the server refuses
    // the job itself is an answer.
    virtual Task<Result<InsideReply>> inside(std::size_t server, InsideCall call) = 0;
};

}  // namespace perdure
