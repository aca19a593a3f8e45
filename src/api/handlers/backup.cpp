// POST /v1/backup: begins a backup. GET /v1/backup: how far the latest one is.
#include <array>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

struct BackupWanted {
    std::string path;
};

constexpr std::array backup_fields = {
    JsonField<BackupWanted>{"path", [](const JsonCursor& at, BackupWanted& w) { at.read(w.path); }},
};

std::string_view state_of(const BackupStatus& status) {
    if (status.path.empty()) return "none";
    if (!status.outcome) return "running";
    return *status.outcome ? "done" : "failed";
}

Response show(const BackupStatus& status) {
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("state", state_of(status));
    if (!status.path.empty()) {
        out.field("path", status.path);
        const bool is_done = status.outcome && *status.outcome;
        out.field("bytes", is_done ? (*status.outcome)->bytes : status.bytes);
        out.field("bytes_total", status.bytes_total);
    }
    if (status.outcome && *status.outcome) {
        out.field("jobs", (*status.outcome)->jobs);
        out.field("taken_at", time_text((*status.outcome)->taken_on));
    }
    if (status.outcome && !*status.outcome) {
        out.field("code", to_string(status.outcome->error().code));
        out.field("what", status.outcome->error().what);
    }
    out.end_object();
    return response;
}

Response no_backups() {
    return problem(error(Errc::conflict, "this store has its own way to be backed up"));
}

}  // namespace

Task<Response> start_backup(Api& api, const Request& request) {
    BackupWanted wanted;
    if (const auto parse_error = read_body<BackupWanted>(request, backup_fields, wanted))
        co_return problem(*parse_error);
    if (!api.options.backups) co_return no_backups();
    if (auto started = api.options.backups->start(wanted.path); !started)
        co_return problem(started.error());
    api.log.write(Level::info, "a backup has begun", "path", wanted.path);
    auto response = show(api.options.backups->status());
    response.status = 202;
    co_return response;
}

Task<Response> show_backup(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    if (!api.options.backups) co_return no_backups();
    co_return show(api.options.backups->status());
}

}  // namespace perdure::handlers
