#include "cli/job/job_options.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <charconv>

#include "cli/human.h"
#include "cli/job/environment.h"
#include "cli/job/relation_options.h"
#include "wire/json_reader.h"
#include "wire/text_size.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr std::string_view made_up = "cli-";

enum class Form { text, number, percent, texts, time, duration, size };

struct JobField {
    Option option;
    std::string_view field;  // in the job object; "timeouts.run" is nested
    Form form = Form::text;
};

const std::array fields = {
    JobField{{"-q,--queue", "NAME", "queue; `default` if left out"}, "queue"},
    JobField{{"--share", "NAME", "whose it is: the shares of a queue take turns"}, "share"},
    JobField{{"--kind", "NAME", "kind, for workers with handlers, instead of a command"}, "kind"},
    JobField{{"--tenant", "NAME", "tenant; `default` if left out"}, "tenant"},
    JobField{{"-p,--priority", "0-9", "0 is first, 5 if left out"}, "priority", Form::number},
    JobField{{"-e,--effects", "EFFECTS",
              "what a second run would do: repeatable (default), resumable, once"},
             "effects"},
    JobField{{"-k,--key", "KEY", "jobs with the same key run one at a time"}, "key"},
    JobField{{"--limit", "NAME", "count against this limit; may be repeated", true},
             "limits",
             Form::texts},
    JobField{
        {"--at", "TIME", "not before then: 09:00, \"tomorrow 7:30\", +2h, 2026-11-15T08:00:00Z"},
        "run_at",
        Form::time},
    JobField{{"--delay", "DURATION", "not before so long from now: 90s, 1h30m; 90 is 90s"},
             "delay",
             Form::duration},
    JobField{{"--policy", "NAME", "default, never, forever or a configured one: see `policy list`"},
             "policy"},
    JobField{
        {"-r,--retries", "N", "more runs after a failure of its own"}, "retries", Form::number},
    JobField{{"--retry-wait", "DURATION", "before the first of them; 1s if left out"},
             "retry_wait",
             Form::duration},
    JobField{{"--retry-wait-max", "DURATION", "waits grow up to this; 1h if left out"},
             "retry_wait_max",
             Form::duration},
    JobField{{"--retry-growth", "HOW", "constant, linear or exponential (default)"},
             "retry_growth"},
    JobField{{"--retry-jitter", "PERCENT", "by which a wait may be shorter"},
             "retry_jitter",
             Form::number},
    JobField{{"--queue-timeout", "DURATION", "expires if it waits longer; 7d if left out"},
             "timeouts.queue",
             Form::duration},
    JobField{{"-t,--run-timeout", "DURATION", "of one attempt; 1d if left out"},
             "timeouts.run",
             Form::duration},
    JobField{{"--idle-timeout", "DURATION", "without output, progress or checkpoint"},
             "timeouts.idle",
             Form::duration},
    JobField{{"--total-timeout", "DURATION", "from the submit over all attempts"},
             "timeouts.total",
             Form::duration},
    JobField{{"--hold", "DURATION", "how long it may go on after its worker's lease has ended"},
             "hold",
             Form::duration},
    JobField{{"--keep-key", "DURATION",
              "how long the idempotency key outlives the job; 30d, 1h for one made up"},
             "keep_key",
             Form::duration},
    JobField{{"--memory", "SIZE", "the most that it may use, with all it starts: 512MiB, 2GiB"},
             "resources.memory"},
    JobField{{"--cpu", "PERCENT", "of one core, with all it starts: 150% is one and a half"},
             "resources.cpu_percent",
             Form::percent},
    JobField{{"--processes", "N", "how many there may be at a time, its own included"},
             "resources.processes",
             Form::number},
    JobField{{"--output-max", "SIZE", "what is kept of what it prints: 64MiB; 16MiB if left out"},
             "output_max",
             Form::size},
    JobField{{"--failure-level", "LEVEL", "of the server's log if it fails; error if left out"},
             "failure_level"},
};

std::optional<std::int64_t> whole(const std::string& text) {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

Error refused(std::string_view option, std::string_view wanted, std::string_view given) {
    return error(Errc::invalid, fmt::format("--{} wants {}, not \"{}\"", option, wanted, given));
}

void put(boost::json::object& job, std::string_view field, boost::json::value value) {
    const auto dot = field.find('.');
    if (dot == std::string_view::npos) {
        job[std::string(field)] = std::move(value);
        return;
    }
    auto& inner = job[std::string(field.substr(0, dot))];
    if (!inner.is_object()) inner = boost::json::object();
    inner.as_object()[std::string(field.substr(dot + 1))] = std::move(value);
}

// A number alone counts seconds.
std::string duration_given(std::string text) {
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    return is_number ? text + "s" : text;
}

Result<boost::json::value> value_for(const JobField& field, const Context& context) {
    const auto& args = context.args;
    const auto key = field.option.key();
    if (field.form == Form::texts) {
        boost::json::array words;
        for (const auto& word : args.all(key)) words.emplace_back(word);
        return boost::json::value(std::move(words));
    }
    auto given = args.text(key);
    if (field.form == Form::text) return boost::json::value(given);
    if (field.form == Form::duration) return boost::json::value(duration_given(given));
    if (field.form == Form::size) {
        const auto bytes = size_value(given);
        if (!bytes) return refused(key, "a size like 64MiB, or bytes", given);
        return boost::json::value(*bytes);
    }
    if (field.form == Form::time) {
        const auto at = read_person_time(given, context.system.now(), context.offset());
        if (!at) return error(at.error().code, fmt::format("--{}: {}", key, at.error().what));
        return boost::json::value(time_text(*at));
    }
    if (field.form == Form::percent && given.ends_with('%')) given.pop_back();
    const auto number = whole(given);
    if (!number) return refused(key, "a whole number", given);
    return boost::json::value(*number);
}

Result<void> add_args(const Args& args, boost::json::object& job) {
    const auto text = args.one("args");
    if (!text) return {};
    boost::json::value value;
    if (const auto parse_error = parse_strict(*text, value))
        return error(Errc::invalid, fmt::format("--args is not JSON: {} (at {})", parse_error->what,
                                                parse_error->path));
    job["args"] = std::move(value);
    return {};
}

}  // namespace

const std::vector<Option>& job_options() {
    static const auto all = [] {
        std::vector<Option> options;
        for (const auto& field : fields) options.push_back(field.option);
        options.push_back({"--args", "JSON", "arguments for a kind's handler, or for the command"});
        const auto& environment = environment_options();
        options.insert(options.end(), environment.begin(), environment.end());
        options.push_back({"-C,--cwd", "DIR",
                           "where the command runs; here if left out and it runs as you on this "
                           "machine; -: a fresh folder"});
        const auto& relations = relation_options();
        options.insert(options.end(), relations.begin(), relations.end());
        return options;
    }();
    return all;
}

Result<boost::json::object> job_from(Context& context) {
    const auto& args = context.args;
    const auto& system = context.system;
    boost::json::object job;
    if (!args.rest.empty()) {
        boost::json::array words;
        for (const auto& word : args.rest) words.emplace_back(word);
        job["argv"] = std::move(words);
    }
    for (const auto& field : fields) {
        if (!args.flag(field.option.key())) continue;
        auto value = value_for(field, context);
        if (!value) return value.error();
        put(job, field.field, std::move(*value));
    }
    if (args.flag("at") && !args.flag("quiet")) {
        const auto at = *time_value(job["run_at"].as_string());
        context.term.say(fmt::format("it starts at {}, {}", local_text(at, context.offset()),
                                     relative(at, system.now())));
    }
    const auto cwd = args.one("cwd").value_or("");
    if (!cwd.empty() && cwd != "-")
        job["cwd"] = cwd.starts_with('/') ? cwd
                     : cwd == "."         ? system.current_directory()
                                          : system.current_directory() + "/" + cwd;
    CallersFolder folder(context);
    if (cwd.empty())
        if (auto given = folder.give(job); !given) return given.error();
    if (auto added = add_environment(context, job); !added) return added.error();
    if (auto added = add_args(args, job); !added) return added.error();
    auto* of_callbacks = cwd == "-" ? nullptr : &folder;
    if (auto added = add_relations(args, of_callbacks, job); !added) return added.error();
    return job;
}

std::string_view option_of_path(std::string_view path) {
    if (!path.starts_with("$.")) return {};
    const auto field = path.substr(2, path.find('[') - 2);
    for (const auto& known : fields)
        if (known.field == field) return known.option.name.substr(known.option.name.rfind("--"));
    if (field == "argv") return "the command behind --";
    if (field.starts_with("env")) return "--env";
    for (const std::string_view option : {"--cwd", "--args", "--idempotency-key"})
        if (field == option.substr(2) || (field == "idempotency_key" && option.ends_with("-key")))
            return option;
    return {};
}

std::string new_idempotency_key(System& system) {
    const auto high = system.random();
    const auto low = system.random();
    return fmt::format("{}{:016x}{:016x}", made_up, high, low);
}

void set_key(boost::json::object& job, const std::string& key) {
    job["idempotency_key"] = key;
    if (key.starts_with(made_up) && !job.contains("keep_key")) job["keep_key"] = "1h";
}

}  // namespace perdure::cli
