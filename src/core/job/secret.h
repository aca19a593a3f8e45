// Secrets of jobs: which values of an environment are not shown, and which jobs may have a secret
// that a worker keeps.
//   S1  What looks like a secret is masked in every answer, and a mask that comes back is refused:
//       nobody submits it in the place of the value.
//   S2  `secret://KEY` is a reference: it is stored and shown, the value never is.
//   S3  A secret is for those that its list names. No list, or an empty one: for nobody.
// Command, args and output are the job's own and are not looked at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job/job.h"

namespace perdure {

inline constexpr std::string_view masked_value = "(masked)";
inline constexpr std::string_view secret_scheme = "secret://";
inline constexpr std::string_view secret_list_suffix = ".allow";
inline constexpr std::size_t secret_value_max = std::size_t{64} << 10;
inline constexpr std::size_t secret_list_max = std::size_t{64} << 10;

// By the name of a variable (DB_PASSWORD, API_KEY, …) or by its value: a URL with a password in it.
bool looks_secret(std::string_view name, std::string_view value);
bool is_secret_reference(std::string_view value);
// The key that it names; empty: it is no reference, or its key is no name.
std::optional<std::string_view> secret_key_in(std::string_view value);
// What is said of a variable in an answer (S1, S2).
std::string_view shown_value(std::string_view name, std::string_view value);

// One line of a list: all that it names must fit.
struct SecretRule {
    std::optional<std::string> tenant;
    std::optional<std::string> queue;
    std::optional<std::string> kind;  // "": a command
    std::size_t line = 0;             // from 1
};
// Lines like `queue=billing tenant=acme`, or `all`; `#` begins a comment.
// invalid: with the line that is not understood.
Result<std::vector<SecretRule>> parse_secret_rules(std::string_view text);

struct SecretUse {
    bool allowed = false;
    std::size_t line = 0;  // that allows it
};
SecretUse decide_secret_use(const JobSpec& job, const std::vector<SecretRule>& rules);

}  // namespace perdure
