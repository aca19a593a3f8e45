#include "cli/job/environment.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/words.h"
#include "core/job/secret.h"

namespace perdure::cli {
namespace {

class Gathered {
public:
    explicit Gathered(const std::map<std::string, std::string>& own) : own_(own) {}

    // "NAME=VALUE", or "NAME" for the caller's own value.
    Result<void> take(const std::string& text, const std::string& place) {
        const auto equals = text.find('=');
        auto name = text.substr(0, equals);
        if (name.empty() || name.find_first_of(" \t") != std::string::npos)
            return error(Errc::invalid, fmt::format("{} wants NAME=VALUE, or NAME for the value "
                                                    "that it has here, not \"{}\"",
                                                    place, name));
        told_.erase(name);
        if (equals != std::string::npos) return set(std::move(name), text.substr(equals + 1));
        const auto found = own_.find(name);
        if (found == own_.end())
            return error(Errc::invalid, fmt::format("{}: {} is not set here; set it, or give "
                                                    "{}=VALUE",
                                                    place, name, name));
        told_.insert(name);
        return set(std::move(name), found->second);
    }
    boost::json::object& variables() { return variables_; }
    const std::set<std::string>& told() const { return told_; }

private:
    Result<void> set(std::string name, const std::string& value) {
        if (!is_secret_reference(value) && looks_secret(name, value)) told_.insert(name);
        variables_[std::move(name)] = value;
        return {};
    }

    const std::map<std::string, std::string>& own_;
    boost::json::object variables_;
    std::set<std::string> told_;  // names whose values will be in the database
};

// One pair of quotes around a whole value is the file's, not the value's.
std::string without_quotes(std::string_view line) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return std::string(line);
    auto value = line.substr(equals + 1);
    const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                        value.front() == value.back();
    if (quoted) value = value.substr(1, value.size() - 2);
    return std::string(line.substr(0, equals + 1)) + std::string(value);
}

Result<void> take_file(Context& context, const std::string& path, Gathered& into) {
    const auto text = context.system.read_file(path);
    if (!text) return text.error();
    std::string_view rest = *text;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty() || line.starts_with('#')) continue;
        auto taken = into.take(without_quotes(line), fmt::format("{}:{}", path, number));
        if (!taken) return taken.error();
    }
    return {};
}

}  // namespace

const std::vector<Option>& environment_options() {
    static const std::vector<Option> options = {
        {"--env", "NAME[=VALUE]",
         "environment of the command; NAME alone: its value here; may be repeated", true},
        {"--env-file", "FILE", "lines of NAME=VALUE, or NAME; `-`: standard input", true}};
    return options;
}

Result<void> add_environment(Context& context, boost::json::object& job) {
    Gathered gathered(context.system.environment());
    for (const auto& path : context.args.all("env-file"))
        if (auto taken = take_file(context, path, gathered); !taken) return taken.error();
    for (const auto& text : context.args.all("env"))
        if (auto taken = gathered.take(text, "--env"); !taken) return taken.error();
    if (!gathered.told().empty() && !context.args.flag("quiet"))
        context.term.say(
            fmt::format("stored with the job in the server's database: {}; to keep a value out of "
                        "it: --env NAME=secret://KEY",
                        fmt::join(gathered.told(), ", ")));
    if (!gathered.variables().empty()) job["env"] = std::move(gathered.variables());
    return {};
}

}  // namespace perdure::cli
