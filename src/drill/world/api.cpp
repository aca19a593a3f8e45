#include "drill/world/api.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "testbed/http_caller.h"
#include "wire/text_time.h"

namespace perdure::drill {
namespace {

constexpr auto patience_with_calls = std::chrono::milliseconds(5000);

bool flag_of(const boost::json::value& object, std::string_view name) {
    const auto* flag = member(object, name).if_bool();
    return flag && *flag;
}

std::uint32_t number_of(const boost::json::value& object, std::string_view name) {
    const auto* number = member(object, name).if_int64();
    return number ? static_cast<std::uint32_t>(*number) : 0;
}

Moment moment_of(const boost::json::value& object, std::string_view name) {
    const auto time = time_value(text_of(object, name));
    return time ? time->us : 0;
}

AttemptFacts attempt_of(const boost::json::value& value) {
    return {.epoch = number_of(value, "epoch"),
            .session = text_of(value, "session"),
            .cause = text_of(value, "cause"),
            .ran = text_of(value, "ran"),
            .rule = text_of(value, "rule"),
            .isolation = text_of(value, "isolation"),
            .ended_at = moment_of(value, "ended_at"),
            .succeeded = flag_of(value, "succeeded"),
            .clean = flag_of(value, "clean")};
}

JobFacts job_of(const boost::json::value& value) {
    JobFacts job{.id = text_of(value, "id"),
                 .state = text_of(value, "state"),
                 .cause = text_of(value, "cause"),
                 .rule = text_of(value, "rule"),
                 .session = text_of(value, "session"),
                 .epoch = number_of(value, "epoch"),
                 .ended_at = moment_of(value, "ended_at"),
                 .may_have_run = flag_of(value, "may_have_run"),
                 .attempts = {}};
    if (const auto* attempts = member(value, "attempts").if_array())
        for (const auto& attempt : *attempts) job.attempts.push_back(attempt_of(attempt));
    return job;
}

}  // namespace

const boost::json::value& member(const boost::json::value& object, std::string_view name) {
    static const boost::json::value nothing;
    const auto* members = object.if_object();
    const auto* found = members ? members->if_contains(name) : nullptr;
    return found ? *found : nothing;
}

std::string text_of(const boost::json::value& object, std::string_view name) {
    const auto* text = member(object, name).if_string();
    return text ? std::string(*text) : std::string();
}

std::string JobFacts::story() const {
    auto text = "it is " + state;
    for (const auto& attempt : attempts)
        text += fmt::format(", attempt {}: {}", attempt.epoch,
                            attempt.cause.empty() ? "not ended" : attempt.cause);
    return text;
}

Result<boost::json::value> Api::call(std::string_view method, std::string_view target,
                                     std::string_view body) const {
    auto caller = HttpCaller::connect(port_);
    if (!caller) return caller.error();
    caller->set_patience(patience_with_calls);
    const auto answer = caller->call(request_bytes(method, target, body));
    if (!answer) return answer.error();
    if (answer->status >= 300)
        return error(
            answer->status < 429 ? Errc::invalid : Errc::unavailable,
            fmt::format("{} {} was answered {}: {}", method, target, answer->status, answer->body));
    boost::system::error_code failed;
    auto value = boost::json::parse(answer->body, failed);
    if (failed) return error(Errc::corrupt, "the server answered no JSON");
    return value;
}

Result<boost::json::value> Api::get(std::string_view target) const {
    return call("GET", target, {});
}
Result<boost::json::value> Api::post(std::string_view target, std::string_view body) const {
    return call("POST", target, body);
}
Result<boost::json::value> Api::put(std::string_view target, std::string_view body) const {
    return call("PUT", target, body);
}

Result<std::string> Api::submit(const boost::json::object& job) const {
    const auto answer = post("/v1/jobs", boost::json::serialize(job));
    if (!answer) return answer.error();
    return text_of(*answer, "id");
}

Result<JobFacts> Api::job(const std::string& id) const {
    const auto answer = get("/v1/jobs/" + id);
    if (!answer) return answer.error();
    return job_of(*answer);
}

Result<JobFacts> Api::wait_until(const std::string& id, double patience_s, const std::string& what,
                                 const std::function<bool(const JobFacts&)>& is_so,
                                 double every_s) const {
    std::string last = "the server does not answer";
    const auto look = [&]() -> std::optional<JobFacts> {
        auto seen = job(id);
        if (!seen) return std::nullopt;
        last = seen->story();
        return is_so(*seen) ? std::optional(std::move(*seen)) : std::nullopt;
    };
    auto found = until<JobFacts>(patience_s, what, look, every_s);
    if (!found) return error(found.error().code, found.error().what + "; job " + id + ": " + last);
    return found;
}

Result<JobFacts> Api::wait_until_ended(const std::string& id, double patience_s) const {
    return wait_until(id, patience_s, "the job ends",
                      [](const JobFacts& job) { return job.has_ended(); });
}

}  // namespace perdure::drill
