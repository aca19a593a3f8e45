// Settings with a name of the user's own in them: policies, which one a queue, a kind or a worker
// has, and the weight of a queue.
//   [policies.NAME]  base = "default", rules = [ … ]
//   [queues.NAME]    policy = "NAME"      [kinds.NAME]  and [workers.NAME]  likewise
//                    weight = 3           how often it has its turn (E7)
// From a flag a whole policy comes as JSON: --set 'policies.NAME={"base": …, "rules": …}'.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/toml_file.h"
#include "config/value.h"
#include "core/job/turns.h"
#include "core/policy/policy_book.h"

namespace perdure {

struct NamedSetting {
    std::string name;   // "queues.slow.policy", "policies.patient"
    std::string value;  // of a policy: JSON
    Origin origin;
};

class NamedSettings {
public:
    // Does a setting of this name belong here, whether it exists or not?
    static bool owns(std::string_view name);

    // What is not understood is refused with its place.
    Result<void> take(const FileEntry& entry, const std::string& path);
    Result<void> take_flag(const std::string& name, const std::string& value,
                           const std::string& flag);

    // All of it, checked together; `of_server` is the setting `policy`, with its place.
    struct NamedChoice {
        PolicyBook book;
        QueueWeights weights;
        std::vector<NamedSetting> shown;
    };
    Result<NamedChoice> choose(const std::string& of_server, const std::string& place) const;

private:
    struct Part {
        std::string text;
        Origin origin;
        std::vector<std::size_t> lines;  // of the elements of a list
        std::string path;                // of the file, for those lines
    };
    struct Policy {
        std::optional<Part> base;
        std::optional<Part> rules;
        std::optional<Part> whole;  // from a flag
    };
    enum class Form { words, json };
    Result<void> put(std::string_view name, Part part, Form form);
    Result<void> put_policy(std::string_view name, Part part, Form form);
    Result<void> choose_policy(const std::string& name, const Policy& policy,
                               NamedChoice& into) const;

    std::map<std::string, Policy> policies_;
    std::map<std::string, Part> queues_;
    std::map<std::string, Part> weights_;
    std::map<std::string, Part> kinds_;
    std::map<std::string, Part> workers_;
};

}  // namespace perdure
