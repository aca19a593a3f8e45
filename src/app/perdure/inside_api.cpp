#include "app/perdure/inside_api.h"

#include <fmt/format.h>

#include <charconv>

#include "app/perdure/real_system.h"
#include "client/reply_error.h"
#include "platform/job_socket_client.h"
#include "wire/json_reader.h"

namespace perdure {
namespace {

constexpr std::string_view jobs = "/v1/jobs";
constexpr unsigned still_going = 202;  // GET /v1/jobs/ID/wait: it has not ended
constexpr unsigned not_found = 404;
constexpr auto poll_interval = milliseconds(300);

bool is_about_one_job(std::string_view target) {
    const auto rest = target.substr(std::min(jobs.size(), target.size()));
    return target.starts_with(jobs) && rest.starts_with('/') && rest.size() > 1;
}
std::string_view act_of(std::string_view target) {
    const auto path = target.substr(0, target.find('?'));
    const auto slash = path.find('/', jobs.size() + 1);
    return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}
bool is_wait(const cli::ApiRequest& request) {
    return is_about_one_job(request.target) && act_of(request.target) == "wait";
}

bool may_ask(const cli::ApiRequest& request) {
    if (request.method == "POST" && request.target == jobs) return true;
    if (!is_about_one_job(request.target)) return false;
    const auto act = act_of(request.target);
    if (request.method == "POST") return act == "cancel";
    return request.method == "GET" && (act.empty() || act == "wait");
}

cli::ApiAnswer answer_of(unsigned status, std::string text) {
    cli::ApiAnswer answer{.status = status};
    boost::json::value body;
    if (!text.empty() && !parse_quick(text, body)) answer.body = std::move(body);
    if (!answer.ok()) {
        auto refusal = read_refusal(status, text);
        answer.refusal = std::move(refusal.error);
        answer.path = std::move(refusal.path);
    }
    answer.text = std::move(text);
    return answer;
}

// "ok 201 {…}"
std::optional<cli::ApiAnswer> read_answer(std::string_view line) {
    if (!line.starts_with("ok ")) return std::nullopt;
    line.remove_prefix(3);
    unsigned status = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), status);
    if (read.ec != std::errc()) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    return answer_of(status, std::string(line));
}

}  // namespace

std::optional<Result<cli::ApiAnswer>> InsideApi::ask(const cli::ApiRequest& request) {
    const auto call = fmt::format("call {} {} {}\n{}", request.method, request.target,
                                  request.body.size(), request.body);
    auto line = ask_job_socket(socket_, call);
    if (!line) return Result<cli::ApiAnswer>(line.error());
    if (auto answer = read_answer(*line)) return Result<cli::ApiAnswer>(std::move(*answer));
    // A shim of an earlier release knows no calls.
    if (line->starts_with("error invalid")) return std::nullopt;
    const bool only_reads = request.method == "GET";
    return Result<cli::ApiAnswer>(
        error(only_reads ? Errc::unavailable : Errc::outcome_unknown,
              "no server has answered through the job's socket: " + *line));
}

Result<cli::ApiAnswer> InsideApi::request(const cli::ApiRequest& request) {
    if (!may_ask(request)) return usual_->request(request);
    const auto until = system_.now() + request.timeout.value_or(seconds(30));
    while (true) {
        auto asked = ask(request);
        if (!asked) return usual_->request(request);
        auto& answer = *asked;
        // What another has submitted may be seen by whom this account is.
        if (answer && answer->status == not_found) {
            auto other = usual_->request(request);
            return other ? std::move(other) : std::move(answer);
        }
        const bool goes_on = answer && answer->status == still_going && is_wait(request);
        if (!goes_on || system_.now() >= until || interrupt_is_pending()) return std::move(answer);
        system_.pause(poll_interval);
    }
}

}  // namespace perdure
