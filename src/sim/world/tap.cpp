#include "sim/world/tap.h"

#include <array>
#include <string_view>
#include <variant>

namespace perdure::sim {
namespace {

// In the order of the variant.
constexpr std::array<std::string_view, std::variant_size_v<Change>> change_names = {
    "heartbeat ",  "tick ",         "submit ",       "submit_all ",   "add_callback ",
    "claim ",      "open_session ", "open_stream ",  "end_session ",  "start ",
    "report ",     "progress ",     "sweep ",        "cancel ",       "hold ",
    "quarantine ", "keeper ",       "forget_ended ", "define_limit ", "pause_queue ",
};

std::string_view name_of(ReportItem::Kind kind) {
    switch (kind) {
        case ReportItem::Kind::ask: return "start ask ";
        case ReportItem::Kind::started: return "start started ";
        case ReportItem::Kind::ended: return "ended ";
        case ReportItem::Kind::begin: return "begin ";
        case ReportItem::Kind::checkpoint: return "checkpoint ";
    }
    return "";
}

}  // namespace

std::string names_of(const ReportRequest& request) {
    std::string names;
    for (const auto& item : request.items) names += name_of(item.kind);
    return names;
}

std::string names_of(const StreamMessage& message) {
    if (std::holds_alternative<RecallOrder>(message)) return "recall ";
    return std::holds_alternative<Assignment>(message) ? "assignment " : "kill ";
}

std::string names_of(const Group& group) {
    std::string names;
    for (const auto& change : group.changes) names += change_names[change.index()];
    return names;
}

}  // namespace perdure::sim
