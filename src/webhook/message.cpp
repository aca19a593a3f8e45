#include "webhook/message.h"

#include "base/id.h"
#include "wire/json_writer.h"
#include "wire/relation_json.h"
#include "wire/text_time.h"
#include "wire/webhook_args.h"

namespace perdure {
namespace {

// The same for every try, and for a webhook job that a person has released: it tells of the same.
std::string id_of(const Assignment& assignment) {
    const auto& of = assignment.spec->callback_of;
    if (!of) return assignment.attempt.job.text();
    return of->job.text() + ".g" + std::to_string(of->generation) + ".n" +
           std::to_string(of->number);
}

// The end that this job was made by, or waited for. The job itself is as old as the end that made
// it: a time that is the same at every try.
std::string news_of(const Input& ended, JobId teller) {
    std::string body;
    JsonWriter out(body);
    out.begin_object();
    out.field("type", "job." + std::string(to_string(ended.state)));
    write_input_fields(out, ended);
    out.field("timestamp", time_text(time_of_id(teller.value)));
    out.end_object();
    return body;
}

}  // namespace

Result<Message> message_for(const Assignment& assignment) {
    auto wanted = parse_webhook_args(assignment.spec->args);
    if (!wanted) return error(Errc::invalid, "perdure.webhook: " + wanted.error().what);
    if (!wanted->body && assignment.inputs.size() == 1)
        wanted->body = news_of(assignment.inputs.front(), assignment.attempt.job);
    if (!wanted->body)
        return error(Errc::invalid,
                     "perdure.webhook: args need a body: only a callback of a job tells by itself "
                     "how that ended");
    return Message{.target = std::move(wanted->target),
                   .id = id_of(assignment),
                   .body = std::move(*wanted->body),
                   .secret = std::move(wanted->secret),
                   .headers = std::move(wanted->headers)};
}

}  // namespace perdure
