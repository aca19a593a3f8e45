// perdure backup PATH
// perdure backup PATH --offline --data DIR
// perdure restore PATH --data DIR
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/human.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr auto between_looks = milliseconds(200);

std::string absolute(Context& context, const std::string& path) {
    if (path.starts_with('/')) return path;
    return context.system.current_directory() + "/" + path;
}

void show_progress(Context& context, std::int64_t bytes, std::int64_t total) {
    if (total <= 0) return context.term.passing("waiting for a quiet moment ...");
    context.term.passing(fmt::format("{} % of {}", bytes * 100 / total,
                                     spoken_size(static_cast<std::uint64_t>(total))));
}

ExitCode print_made(Context& context, const boost::json::value& made) {
    if (context.json()) {
        context.term.print(made);
    } else {
        context.term.say(fmt::format(
            "{}: {} jobs, {}, as it was at {}", text_of(made, "path"), number_of(made, "jobs"),
            spoken_size(static_cast<std::uint64_t>(number_of(made, "bytes"))),
            text_of(made, "taken_at")));
    }
    return ExitCode::ok;
}

ExitCode back_up_offline(Context& context, const std::string& path) {
    const auto made = context.backstage.backup_offline(
        context.configuration.config, path, [&](std::uint64_t bytes, std::uint64_t total) {
            show_progress(context, static_cast<std::int64_t>(bytes),
                          static_cast<std::int64_t>(total));
        });
    if (!made) return context.term.fail(made.error());
    return print_made(context,
                      boost::json::object{{"state", "done"},
                                          {"path", path},
                                          {"bytes", static_cast<std::int64_t>(made->bytes)},
                                          {"jobs", static_cast<std::int64_t>(made->jobs)},
                                          {"taken_at", time_text(made->taken_on)}});
}

boost::json::value as_json(const OfflineRestored& restored) {
    boost::json::array paused;
    for (const auto& queue : restored.paused_queues) paused.emplace_back(queue);
    return boost::json::object{{"jobs", static_cast<std::int64_t>(restored.jobs)},
                               {"not_ended", static_cast<std::int64_t>(restored.not_ended)},
                               {"taken_at", time_text(restored.taken_on)},
                               {"taken_from", restored.directory},
                               {"held", static_cast<std::int64_t>(restored.held)},
                               {"paused_queues", std::move(paused)}};
}

void print_restored(Context& context, const OfflineRestored& restored, RestoreWhat what) {
    auto& term = context.term;
    term.say(fmt::format("{} jobs, {} of them not ended, as {} was at {}", restored.jobs,
                         restored.not_ended, restored.directory, time_text(restored.taken_on)));
    if (what == RestoreWhat::copy)
        return term.say(
            "it is a copy to look at: a server shows it, and nothing in it runs. If the other "
            "instance is gone for good, restore into a new directory with --take-over");
    if (restored.held > 0)
        term.say(
            fmt::format("{} jobs that must not run twice are held: look whether they have run "
                        "since, then `perdure job unhold ID` or `perdure job cancel ID`",
                        restored.held));
    for (const auto& queue : restored.paused_queues)
        term.say(
            fmt::format("queue {} is paused: such a job was running in it; look at it, then "
                        "`perdure queues resume {}`",
                        queue, queue));
}

}  // namespace

ExitCode back_up(Context& context) {
    const auto path = absolute(context, context.args.text("path"));
    if (context.args.flag("offline")) return back_up_offline(context, path);
    const auto begun = ask(context.api, context.term,
                           {.method = "POST",
                            .target = "/v1/backup",
                            .body = boost::json::serialize(boost::json::object{{"path", path}})});
    if (!begun) return begun.code;
    for (;;) {
        const auto asked = ask(context.api, context.term, {.target = "/v1/backup"});
        if (!asked) return asked.code;
        const auto state = text_of(*asked.body, "state");
        const bool is_other = text_of(*asked.body, "path") != path;
        if (state == "done" && !is_other) return print_made(context, *asked.body);
        if (state != "running" || is_other) {
            const auto why = text_of(*asked.body, "what");
            return context.term.fail(
                error(Errc::unavailable, why.empty() ? "no backup: the server was started anew "
                                                       "meanwhile: begin again"
                                                     : why));
        }
        show_progress(context, number_of(*asked.body, "bytes"),
                      number_of(*asked.body, "bytes_total"));
        context.system.pause(between_looks);
    }
}

ExitCode restore_backup(Context& context) {
    const auto what = context.args.flag("take-over") ? RestoreWhat::take_over : RestoreWhat::copy;
    context.term.passing("checking the backup ...");
    const auto restored = context.backstage.restore(
        context.configuration.config, absolute(context, context.args.text("path")), what);
    if (!restored) return context.term.fail(restored.error());
    if (context.json()) {
        context.term.print(as_json(*restored));
    } else {
        print_restored(context, *restored, what);
    }
    return ExitCode::ok;
}

}  // namespace perdure::cli
