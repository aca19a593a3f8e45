// ClientApi: the command line's Api over the HTTP client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/api_caller.h"
#include "cli/system.h"
#include "client/api_client.h"

namespace perdure {

class ClientApi final : public cli::ApiCaller {
public:
    ClientApi(const Config& config, cli::System& system);

    Result<cli::ApiAnswer> request(const cli::ApiRequest& request) override;
    Result<cli::ApiAnswer> stream(const std::string& target, std::optional<Duration> patience,
                                  Piece piece) override;
    std::string where() const override;

private:
    std::vector<std::string> urls_;
    cli::System& system_;
    Result<std::shared_ptr<const ClientIdentity>>
        credentials_;                     // an error is told at the first call
    std::optional<BootTime> quiet_from_;  // a stream without bytes until then is left
    ApiClient client_;
};

}  // namespace perdure
