#include "api/space_watch.h"

#include <fmt/format.h>

#include <iterator>

namespace perdure {
namespace {

constexpr auto between_looks = milliseconds(200);
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace

std::optional<Error> SpaceWatch::why_no_submits(BootTime now) {
    if (!space_ || now < look_again_at_) return refusal_;
    look_again_at_ = now + between_looks;
    refusal_.reset();
    const auto view = space_->look();
    if (!view) return refusal_;  // a disk that does not answer is seen by the commit
    const auto facts = facts_of(*view);
    if (decide_space(facts).kind == SpaceDecision::Kind::refuse_submits)
        refusal_ = error(
            Errc::overloaded,
            fmt::format("only {} MiB are free where the data is, and the last {} MiB are for what "
                        "was accepted before: free some space, or wait for retention",
                        facts.free_bytes / mib, reserve_of(facts) / mib));
    return refusal_;
}

std::string SpaceWatch::metrics() const {
    const auto view = space_ ? space_->look() : std::nullopt;
    std::string out = "# TYPE perdure_store_bytes gauge\n";
    auto into = std::back_inserter(out);
    if (view)
        for (const auto& file : view->files)
            fmt::format_to(into, "perdure_store_bytes{{file=\"{}\"}} {}\n", file.name, file.bytes);
    out += "# TYPE perdure_disk_free_bytes gauge\n";
    if (view) fmt::format_to(into, "perdure_disk_free_bytes {}\n", view->free_bytes);
    out += "# TYPE perdure_disk_reserve_bytes gauge\n";
    if (view) fmt::format_to(into, "perdure_disk_reserve_bytes {}\n", reserve_of(facts_of(*view)));
    return out;
}

}  // namespace perdure
