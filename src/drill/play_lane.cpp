#include "drill/play_lane.h"

#include <fmt/format.h>

#include <mutex>
#include <thread>

namespace perdure::drill {
namespace {

constexpr std::size_t batch = 10'000;
// A server that has just started counts no time for 2 s (T2): it may not know what it missed.
constexpr double settling_s = 2.5;

bool rows_bring_their_own_site(Lane lane) {
    return lane == Lane::restarts || lane == Lane::conflicts || lane == Lane::outages ||
           lane == Lane::disks;
}

SiteOptions site_for(Lane lane, const std::string& folder) {
    const bool fleet = lane == Lane::losses || lane == Lane::partings || lane == Lane::weary ||
                       lane == Lane::faults;
    // Of a killed server they see nothing but a delay.
    return {.folder = folder + "/site", .is_fleet = fleet};
}

std::string many_jobs() {
    std::string body = R"({"jobs":[)";
    for (std::size_t i = 0; i < batch; ++i)
        body += i == 0 ? R"({"argv":["true"],"queue":"waiting"})"
                       : R"(,{"argv":["true"],"queue":"waiting"})";
    return body + "]}";
}

// Jobs that wait in a paused queue: ready, and in nobody's way.
Result<void> pile_up(const Site& site, std::size_t count, Lane lane, Screen& screen) {
    const auto& api = site.api();
    if (auto paused = api.post("/v1/queues/waiting/pause"); !paused) return paused.error();
    const auto body = many_jobs();
    for (std::size_t done = 0; done < count && !interrupted(); done += batch) {
        if (auto taken = api.post("/v1/jobs", body); !taken) return taken.error();
        screen.is_preparing(lane, fmt::format("{} of {} jobs put in line", done + batch, count));
    }
    return {};
}

class LanePlayer {
public:
    explicit LanePlayer(const LaneContext& context)
        : lane_(context.lane),
          folder_(context.folder),
          options_(context.options),
          screen_(context.screen),
          stalls_(context.stalls) {}

    LaneResult play(const std::vector<const Row*>& rows) {
        const auto opened = open();
        for (const auto* row : rows) {
            if (interrupted()) break;
            result_.verdicts.push_back(opened ? play_row(*row)
                                              : Verdict{row, {}, {opened.error().what}});
            if (!interrupted()) screen_.row_ended(result_.verdicts.back());
        }
        if (site_ && !interrupted()) see_neighbours_off();
        screen_.lane_ended(lane_);
        return std::move(result_);
    }

private:
    Result<void> open() {
        if (rows_bring_their_own_site(lane_)) return {};
        screen_.is_preparing(lane_, "starting an instance");
        auto site = Site::open(site_for(lane_, folder_));
        if (!site) return site.error();
        site_ = std::move(*site);
        if (lane_ == Lane::backlog)
            if (auto piled = pile_up(*site_, options_.backlog, lane_, screen_); !piled)
                return piled;
        pause_for(settling_s);
        return {};
    }

    Verdict play_row(const Row& row) {
        Verdict verdict{&row, {}, {}};
        std::mutex lock;
        screen_.run_ended(row, 0, options_.runs);
        const auto one = [&](std::size_t number) {
            const auto began = now();
            auto measured = play_once(row, number);
            const std::lock_guard guard(lock);
            if (measured)
                verdict.samples.emplace_back(*measured, stalls_.worst_since(began));
            else
                verdict.wrong.push_back(
                    fmt::format("run {}: {}", number + 1, measured.error().what));
            screen_.run_ended(row, verdict.runs(), options_.runs);
        };
        std::vector<std::thread> together;
        for (std::size_t i = 0; i < options_.runs && !interrupted(); ++i)
            if (row.together)
                together.emplace_back(one, i);
            else
                one(i);
        for (auto& thread : together) thread.join();
        return verdict;
    }

    Result<double> play_once(const Row& row, std::size_t number) {
        const auto name = fmt::format("{}-{}", row.name, number + 1);
        auto witness = Witness::make(fmt::format("{}/{}.run", folder_, name));
        if (!witness) return witness.error();
        return row.run({.site = site_.get(),
                        .folder = folder_ + "/" + name,
                        .name = name,
                        .witness = **witness});
    }

    void see_neighbours_off() {
        screen_.is_preparing(lane_, "waiting for the other jobs");
        const auto seen = site_->see_neighbours_off();
        if (seen)
            result_.neighbours += *seen;
        else if (!result_.verdicts.empty())
            result_.verdicts.back().wrong.push_back("the jobs beside: " + seen.error().what);
    }

    Lane lane_;
    std::string folder_;
    const Options& options_;
    Screen& screen_;
    const StallWatch& stalls_;
    std::unique_ptr<Site> site_;
    LaneResult result_;
};

}  // namespace

LaneResult play_lane(const LaneContext& context, const std::vector<const Row*>& rows) {
    return LanePlayer(context).play(rows);
}

}  // namespace perdure::drill
