// InsideApi: the command line's Api inside a running job. What a job may ask as its attempt goes
// through its socket (docs/protocol/job-socket.md), so that it needs no server, no token and no
// account, and counts only while the attempt is the one that runs [P2]. Everything else, and what
// is not the attempt's own, goes the usual way.
#pragma once

#include <memory>
#include <string>

#include "cli/api_caller.h"
#include "cli/system.h"

namespace perdure {

class InsideApi final : public cli::ApiCaller {
public:
    InsideApi(std::string socket, cli::System& system, std::unique_ptr<cli::ApiCaller> usual)
        : socket_(std::move(socket)), system_(system), usual_(std::move(usual)) {}

    Result<cli::ApiAnswer> request(const cli::ApiRequest& request) override;
    Result<cli::ApiAnswer> stream(const std::string& target, std::optional<Duration> patience,
                                  Piece piece) override {
        return usual_->stream(target, patience, std::move(piece));
    }
    std::string where() const override { return usual_->where(); }

private:
    // Empty: it is not the socket's to answer.
    std::optional<Result<cli::ApiAnswer>> ask(const cli::ApiRequest& request);

    std::string socket_;
    cli::System& system_;
    std::unique_ptr<cli::ApiCaller> usual_;
};

}  // namespace perdure
