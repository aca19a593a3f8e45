#include "app/perdure/client_api.h"

#include <fmt/format.h>

#include "app/perdure/access.h"
#include "app/perdure/real_system.h"
#include "platform/system_time.h"

namespace perdure {
namespace {

// Nothing was done, and a server that died is back in a moment: a person need not see that.
constexpr int tries_during_a_restart = 30;
constexpr auto pause_between_tries = milliseconds(30);
constexpr unsigned unavailable_status = 503;

ApiClient::Options options_for(const std::vector<std::string>& urls,
                               std::shared_ptr<const ClientIdentity> credentials,
                               const std::optional<BootTime>& quiet_from) {
    return {.urls = urls, .credentials = std::move(credentials), .interrupted = [&quiet_from] {
                return interrupt_is_pending() || (quiet_from && boot_now() >= *quiet_from);
            }};
}

cli::ApiAnswer answer_of(ApiReply reply) {
    cli::ApiAnswer answer;
    answer.status = reply.status;
    if (!reply.ok()) {
        answer.refusal = reply.error();
        answer.path = reply.path();
    }
    answer.body = std::move(reply.body);
    answer.text = std::move(reply.text);
    return answer;
}

}  // namespace

ClientApi::ClientApi(const Config& config, cli::System& system)
    : urls_(config.servers),
      system_(system),
      credentials_(read_credentials(config)),
      client_(options_for(urls_, credentials_ ? *credentials_ : nullptr, quiet_from_)) {}

Result<cli::ApiAnswer> ClientApi::request(const cli::ApiRequest& request) {
    if (!credentials_) return credentials_.error();
    for (int tries = 1;; ++tries) {
        auto reply = client_.request(request.method, request.target, request.body, request.timeout);
        const bool in_vain =
            reply ? reply->status == unavailable_status : reply.error().code == Errc::unavailable;
        if (in_vain && tries < tries_during_a_restart && !interrupt_is_pending()) {
            system_.pause(pause_between_tries);
            continue;
        }
        if (!reply) return reply.error();
        return answer_of(std::move(*reply));
    }
}

Result<cli::ApiAnswer> ClientApi::stream(const std::string& target,
                                         std::optional<Duration> patience, Piece piece) {
    if (!credentials_) return credentials_.error();
    const auto wait_on = [&] {
        if (patience) quiet_from_ = boot_now() + *patience;
    };
    wait_on();
    auto reply = client_.stream(
        target, [](const StreamHead&) {},
        [&](std::string_view bytes) {
            wait_on();
            return piece(bytes);
        });
    const bool is_quiet = quiet_from_ && boot_now() >= *quiet_from_;
    quiet_from_.reset();
    if (!reply && is_quiet && !interrupt_is_pending()) {
        cli::ApiAnswer quiet;
        quiet.went_quiet = true;
        return quiet;
    }
    if (!reply) return reply.error();
    return answer_of(std::move(*reply));
}

std::string ClientApi::where() const { return fmt::format("{}", fmt::join(urls_, ", ")); }

}  // namespace perdure
