#include "processes/order_for.h"

#include <algorithm>

#include "core/job/secret.h"
#include "processes/disk/attempt_directory.h"
#include "processes/disk/processes_without_shim.h"
#include "shim/format/attempt_files.h"

namespace perdure {
namespace {

// The kernel takes no longer string (MAX_ARG_STRLEN), name, `=` and end included.
constexpr std::size_t string_max = 128 * 1024;

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }
bool is_too_long(const std::string& text) { return text.size() >= string_max; }

bool is_ours(const std::string& name) { return name.starts_with("PERDURE_"); }

std::optional<Error> why_not(const JobSpec& spec) {
    if (spec.argv.empty() || spec.argv.front().empty())
        return error(Errc::invalid, "the job has no command; its kind is not known here");
    const bool nul_in_args = std::any_of(spec.argv.begin(), spec.argv.end(), has_nul);
    if (nul_in_args || has_nul(spec.cwd))
        return error(Errc::invalid, "the command has a NUL in it");
    if (std::any_of(spec.argv.begin(), spec.argv.end(), is_too_long))
        return error(Errc::invalid, "one argument of the command is longer than 128 KiB");
    for (const auto& [name, value] : spec.env) {
        const bool bad = name.empty() || name.find('=') != std::string::npos || has_nul(name);
        if (bad || has_nul(value) || name.size() + value.size() + 2 > string_max)
            return error(Errc::invalid, "`" + name + "` cannot be set in an environment");
    }
    return std::nullopt;
}

// What answers do not show is not left in a worker's files either.
bool stays_off_the_disk(const std::string& name, const std::string& value) {
    return is_secret_reference(value) || looks_secret(name, value);
}

using Variables = std::vector<std::pair<std::string, std::string>>;

void set(Variables& variables, const std::string& name, const std::string& value) {
    const auto same = [&](const auto& pair) { return pair.first == name; };
    const auto found = std::find_if(variables.begin(), variables.end(), same);
    if (found == variables.end())
        variables.emplace_back(name, value);
    else
        found->second = value;
}

Variables environment(const Assignment& assignment, const Surroundings& around,
                      const std::string& directory) {
    const auto& spec = *assignment.spec;
    const auto in_directory = [&](const char* name) { return directory + "/" + name; };
    const auto work = in_directory(attempt_files::work);
    const std::string mark_name(attempt_variable.substr(0, attempt_variable.size() - 1));
    Variables variables;
    set(variables, mark_name, around.mark + directory_name(assignment.attempt));
    set(variables, "PATH", around.path);
    set(variables, "HOME", around.account.home);
    if (!around.account.name.empty()) {
        set(variables, "USER", around.account.name);
        set(variables, "LOGNAME", around.account.name);
    }
    if (!around.account.shell.empty()) set(variables, "SHELL", around.account.shell);
    set(variables, "LANG", "C.UTF-8");
    set(variables, "TMPDIR", work);
    for (const auto& [name, value] : around.env)
        if (!is_ours(name)) set(variables, name, value);
    if (!around.servers.empty()) set(variables, "PERDURE_SERVER", around.servers);
    set(variables, "PERDURE_JOB", assignment.attempt.job.text());
    set(variables, "PERDURE_EPOCH", std::to_string(assignment.attempt.epoch.value));
    set(variables, "PERDURE_SOCKET", in_directory(attempt_files::job_socket));
    set(variables, "PERDURE_RESULT", work + "/" + attempt_files::work_result);
    if (has_args(spec)) set(variables, "PERDURE_ARGS", in_directory(attempt_files::args));
    if (!assignment.checkpoint.empty())
        set(variables, "PERDURE_CHECKPOINT", in_directory(attempt_files::checkpoint));
    if (!assignment.inputs.empty())
        set(variables, "PERDURE_INPUTS", in_directory(attempt_files::inputs));
    if (spec.callback_of) set(variables, "PERDURE_PARENT", spec.callback_of->job.text());
    for (const auto& [name, value] : spec.env)
        if (!is_ours(name) && !stays_off_the_disk(name, value)) set(variables, name, value);
    return variables;
}

Variables secrets(const JobSpec& spec) {
    Variables variables;
    for (const auto& [name, value] : spec.env)
        if (!is_ours(name) && stays_off_the_disk(name, value)) set(variables, name, value);
    return variables;
}

}  // namespace

bool has_args(const JobSpec& spec) {
    return !spec.args.empty() && spec.args != "null" && spec.args != "{}";
}

Result<Order> order_for(const Assignment& assignment, const Surroundings& around) {
    const auto& spec = *assignment.spec;
    if (const auto problem = why_not(spec)) return *problem;
    Order order;
    order.attempt = assignment.attempt;
    order.assignment = assignment.number;
    order.life = around.life;
    order.policy = spec.policy.name;
    order.terms = assignment.terms;
    order.timing = around.timing;
    order.boot = around.boot;
    order.host = around.host;
    order.directory = around.attempts_path + "/" + directory_name(assignment.attempt);
    order.argv = spec.argv;
    order.env = environment(assignment, around, order.directory);
    order.secrets = secrets(spec);
    order.cwd = spec.cwd;
    order.become = around.become;
    order.output_max = spec.output_max;
    order.run_timeout = spec.timeouts.run;
    order.idle_timeout = spec.timeouts.idle;
    return order;
}

}  // namespace perdure
