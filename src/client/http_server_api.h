// HttpServerApi: a worker's way to the servers over HTTP (docs/protocol/worker.md). Every call that
// is under way has a connection of its own, so that a heartbeat never waits behind a large report;
// connections are kept for the next call. Calls answer within `call_timeout`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/http_link.h"
#include "core/ownership/timing.h"
#include "ports/clock.h"
#include "ports/server_api.h"

namespace perdure {

class HttpServerApi final : public ServerApi {
public:
    // invalid: a URL cannot be understood, or there is none.
    static Result<std::unique_ptr<HttpServerApi>> make(
        Clock& clock, const std::vector<std::string>& urls, Duration call_timeout,
        std::shared_ptr<const ClientIdentity> credentials = {});
    ~HttpServerApi() override;

    std::size_t server_count() const override;
    Task<Result<OpenAnswer>> open(std::size_t server, OpenRequest request) override;
    Task<Result<std::shared_ptr<Stream>>> open_stream(std::size_t server,
                                                      SessionId session) override;
    Task<Result<HeartbeatAnswerMessage>> heartbeat(std::size_t server,
                                                   HeartbeatRequest request) override;
    Task<Result<ReportResponse>> report(std::size_t server, ReportRequest request) override;
    Task<Result<LogResponse>> logs(std::size_t server, LogRequest request) override;
    Task<Result<InsideReply>> inside(std::size_t server, InsideCall call) override;

    struct Links;

private:
    explicit HttpServerApi(std::shared_ptr<Links> links) : links_(std::move(links)) {}
    std::shared_ptr<Links> links_;
};

}  // namespace perdure
