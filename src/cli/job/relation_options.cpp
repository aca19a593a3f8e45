#include "cli/job/relation_options.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <optional>

#include "core/job/webhook.h"
#include "wire/json_reader.h"

namespace perdure::cli {
namespace {

struct CallbackOption {
    std::string_view key;
    std::string_view field;
};
constexpr std::array callback_options = {
    CallbackOption{"on-success", "on_success"},
    CallbackOption{"on-failure", "on_failure"},
    CallbackOption{"on-end", "on_end"},
};

// One word at a time; `at` stands behind it afterwards.
Result<std::string> next_word(std::string_view text, std::size_t& at) {
    std::string word;
    char quote = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) break;
        if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else if (c == '\\' && quote != '\'' && at + 1 < text.size()) {
            word += text[++at];
        } else {
            word += c;
        }
    }
    if (quote != 0) return error(Errc::invalid, fmt::format("a quote {} is not closed", quote));
    return word;
}

Result<boost::json::value> after_of(const std::string& text) {
    const auto colon = text.find(':');
    boost::json::object after;
    after["job"] = text.substr(0, colon);
    if (colon == std::string::npos) return boost::json::value(std::move(after));
    const auto on = text.substr(colon + 1);
    if (on != "success" && on != "failure" && on != "end")
        return error(
            Errc::invalid,
            fmt::format("--after wants ID, or ID:success, ID:failure or ID:end, not \"{}\"", text));
    after["on"] = on;
    return boost::json::value(std::move(after));
}

// A wrong URL would show only when the job has ended: look at it now.
Result<boost::json::object> webhook_to(const std::string& url,
                                       const std::optional<std::string>& secret) {
    if (!url.starts_with("https://") && !url.starts_with("http://"))
        return error(
            Errc::invalid,
            fmt::format("--notify wants a URL like https://there.example/in, not \"{}\"", url));
    boost::json::object args;
    args["url"] = url;
    if (secret) args["secret"] = *secret;
    boost::json::object job;
    job["kind"] = webhook_kind;
    job["args"] = std::move(args);
    return job;
}

Result<void> add_notifications(const Args& args, boost::json::object& job) {
    const auto urls = args.all("notify");
    const auto secret = args.one("notify-secret");
    if (secret && urls.empty())
        return error(Errc::invalid, "--notify-secret signs what --notify sends: give --notify URL");
    for (const auto& url : urls) {
        auto callback = webhook_to(url, secret);
        if (!callback) return callback.error();
        auto& at_the_end = job["on_end"];
        if (!at_the_end.is_array()) at_the_end = boost::json::array();
        at_the_end.as_array().push_back(std::move(*callback));
    }
    return {};
}

}  // namespace

const std::vector<Option>& relation_options() {
    static const std::vector<Option> options = {
        {"--after", "ID[:ON]", "wait for this job's success, failure or end; may be repeated",
         true},
        {"--on-success", "COMMAND", "run this when it has succeeded; may be repeated", true},
        {"--on-failure", "COMMAND", "run this when it has failed; may be repeated", true},
        {"--on-end", "COMMAND", "run this when it has ended, in whatever way; may be repeated",
         true},
        {"--notify", "URL", "send how it ended there, as a webhook; may be repeated", true},
        {"--notify-secret", "NAME", "the worker's secret that signs what --notify sends"},
    };
    return options;
}

Result<std::vector<std::string>> split_words(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0;;) {
        at = text.find_first_not_of(" \t\n", at);
        if (at == std::string_view::npos) return words;
        auto word = next_word(text, at);
        if (!word) return word.error();
        words.push_back(std::move(*word));
    }
}

bool is_job_object(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    return first != std::string_view::npos && text[first] == '{';
}

Result<boost::json::object> job_of_text(std::string_view text) {
    if (is_job_object(text)) {
        boost::json::value value;
        if (const auto parse_error = parse_strict(text, value))
            return error(Errc::invalid, fmt::format("this is no job as JSON: {} (at {})",
                                                    parse_error->what, parse_error->path));
        return std::move(value.as_object());
    }
    auto words = split_words(text);
    if (!words) return words.error();
    if (words->empty()) return error(Errc::invalid, "a command is empty: what shall be run?");
    boost::json::array argv;
    for (auto& word : *words) argv.emplace_back(std::move(word));
    boost::json::object job;
    job["argv"] = std::move(argv);
    return job;
}

Result<void> add_relations(const Args& args, CallersFolder* folder, boost::json::object& job) {
    boost::json::array others;
    for (const auto& text : args.all("after")) {
        auto after = after_of(text);
        if (!after) return after.error();
        others.push_back(std::move(*after));
    }
    if (!others.empty()) job["after"] = std::move(others);
    // Callbacks are of the same tenant, and have queues of their own.
    boost::json::object inherited;
    if (job.contains("tenant")) inherited["tenant"] = job["tenant"];
    for (const auto& option : callback_options) {
        boost::json::array callbacks;
        for (const auto& text : args.all(option.key)) {
            auto callback = job_of_text(text);
            if (!callback)
                return error(Errc::invalid,
                             fmt::format("--{}: {}", option.key, callback.error().what));
            if (folder && !is_job_object(text))
                if (auto given = folder->give(*callback, &inherited); !given) return given.error();
            callbacks.push_back(std::move(*callback));
        }
        if (!callbacks.empty()) job[std::string(option.field)] = std::move(callbacks);
    }
    return add_notifications(args, job);
}

}  // namespace perdure::cli
