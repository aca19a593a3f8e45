// ClientApi: the command line's Api over the HTTP client.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/api.h"
#include "cli/world.h"
#include "client/api_client.h"

namespace perdure {

class ClientApi final : public cli::Api {
public:
    ClientApi(const Config& config, cli::World& world);

    Result<cli::ApiAnswer> request(const cli::ApiRequest& request) override;
    Result<cli::ApiAnswer> stream(const std::string& target, std::optional<Duration> patience,
                                  Piece piece) override;
    std::string where() const override;

private:
    std::vector<std::string> urls_;
    cli::World& world_;
    Result<std::shared_ptr<const ClientIdentity>>
        credentials_;                     // an error is told at the first call
    std::optional<BootTime> quiet_from_;  // a stream without bytes until then is left
    ApiClient client_;
};

}  // namespace perdure
