#include "main/client_api.h"

#include <fmt/format.h>

#include "main/real_world.h"

namespace perdure {
namespace {

ApiClient::Options options_for(const std::vector<std::string>& urls) {
    return {.urls = urls, .interrupted = interrupt_is_pending};
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

ClientApi::ClientApi(const std::vector<std::string>& urls)
    : urls_(urls), client_(options_for(urls)) {}

Result<cli::ApiAnswer> ClientApi::request(const cli::ApiRequest& request) {
    auto reply = client_.request(request.method, request.target, request.body, request.timeout);
    if (!reply) return reply.error();
    return answer_of(std::move(*reply));
}

Result<cli::ApiAnswer> ClientApi::stream(const std::string& target, Piece piece) {
    auto reply = client_.stream(
        target, [](const StreamHead&) {}, std::move(piece));
    if (!reply) return reply.error();
    return answer_of(std::move(*reply));
}

std::string ClientApi::where() const { return fmt::format("{}", fmt::join(urls_, ", ")); }

}  // namespace perdure
