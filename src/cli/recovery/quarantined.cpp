#include "cli/recovery/quarantined.h"

#include <fmt/format.h>

#include <array>

#include "cli/answer.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr std::array plain = {"queue", "kind", "cause"};

}  // namespace

std::vector<Option> quarantine_filters() {
    return {{"-q,--queue", "NAME", "only of this queue"},
            {"--kind", "NAME", "only of this kind"},
            {"--cause", "CAUSE", "only with this cause, like crash(signal)"},
            {"--older-than", "TIME", "only what has been there for so long, like 1h"}};
}

bool has_filter(const Args& args) {
    for (const auto* name : plain)
        if (args.flag(name)) return true;
    return args.flag("older-than");
}

Quarantined find_quarantined(Context& context) {
    const auto& args = context.args;
    std::string target = "/v1/jobs?state=quarantined&undealt=true&limit=1000";
    for (const auto* name : plain)
        if (const auto given = args.one(name))
            target += fmt::format("&{}={}", name, escaped(*given));
    if (const auto given = args.one("older-than")) {
        const auto age = duration_value(*given);
        if (!age) return {{}, context.term.usage("--older-than must be a duration, like 1h or 7d")};
        const auto before = time_text(context.system.now() - *age);
        target += "&ended_before=" + escaped(before);
    }
    auto asked = ask_pages(context.api, context.term, {target, "jobs", "before"});
    if (!asked) return {{}, asked.code};
    return {list_of(*asked.body, "jobs")};
}

}  // namespace perdure::cli
