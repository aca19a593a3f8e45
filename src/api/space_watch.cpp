#include "api/space_watch.h"

#include <fmt/format.h>

namespace perdure {
namespace {

constexpr auto between_looks = milliseconds(200);
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace

std::optional<Error> SpaceWatch::why_no_submits(BootTime now) {
    if (!space_ || now < next_poll_at_) return refusal_;
    next_poll_at_ = now + between_looks;
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

void SpaceWatch::append(MetricsText& out) const {
    const auto view = space_ ? space_->look() : std::nullopt;
    out.family("perdure_store_bytes", MetricType::gauge, "Sizes of the store's files.");
    if (view)
        for (const auto& file : view->files) out.sample({{"file", file.name}}, file.bytes);
    out.family("perdure_store_unused_bytes", MetricType::gauge,
               "Of the sizes of the store's files: what is free in them.");
    if (view)
        for (const auto& file : view->files)
            if (file.name.ends_with(".db")) out.sample({{"file", file.name}}, file.unused_bytes);
    out.family("perdure_disk_free_bytes", MetricType::gauge,
               "What may still be written where the data is.");
    if (view) out.sample({}, view->free_bytes);
    out.family("perdure_disk_reserve_bytes", MetricType::gauge,
               "New jobs are refused while less than this is free.");
    if (view) out.sample({}, reserve_of(facts_of(*view)));
}

}  // namespace perdure
