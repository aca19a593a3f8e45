// POST /v1/jobs/ID/callbacks: a job object, and `on`. Never lost: if the job has ended it is made
// by the same transaction [P7].
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "core/job/submit.h"
#include "wire/relation_json.h"

namespace perdure::handlers {
namespace {

// {"on": "end", "job": {…}}
struct WantedCallback {
    Callback callback;
};

std::optional<ParseError> read_wanted(const std::string& body, const JobSpec& parent,
                                      WantedCallback& into) {
    JsonTree root;
    if (auto parse_error = parse_strict(body, root)) return parse_error;
    Reading reading;
    const JsonCursor at(root, reading);
    at.members([&](std::string_view name, const JsonCursor& member) {
        if (name == "on") return read_enum(member, on_names, into.callback.on);
        if (name != "job") return member.parse_error("there is no such field");
        auto spec = std::make_shared<JobSpec>();
        read_callback(member, parent, *spec);
        into.callback.spec = std::move(spec);
    });
    if (!into.callback.spec) at.parse_error("`job` is missing: what shall be run?");
    return reading.parse_error;
}

Response answer(JobId id, const CallbackAdded& added) {
    Response response{.status = 201};
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", id);
    out.field("number", added.number);
    if (added.made) out.field("made", *added.made);
    out.end_object();
    return response;
}

}  // namespace

Task<Response> add_callback(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    if (const auto parse_error = QueryReader(request).finish()) co_return problem(*parse_error);
    auto parent = co_await read_job(api, terms_of(request), *id);
    if (!parent) co_return problem(parent.error());
    WantedCallback wanted;
    if (const auto parse_error = read_wanted(request.body, *parent->spec, wanted))
        co_return problem(*parse_error);
    if (const auto fault = find_fault_of_callback(*wanted.callback.spec, *parent->spec))
        co_return problem(fault->error, fault->field.empty() ? "$.job" : "$.job." + fault->field);
    auto asked = *wanted.callback.spec;
    keep_submitter(asked, request.who);
    wanted.callback.spec = std::make_shared<const JobSpec>(std::move(asked));
    auto added = co_await api.server.jobs().add_callback(*id, std::move(wanted.callback));
    if (!added) co_return problem(added.error());
    co_return answer(*id, *added);
}

}  // namespace perdure::handlers
