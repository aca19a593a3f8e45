#include "bench/scale/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/scale/scale_measures.h"

namespace perdure::bench {
namespace {

// What a kept instance and the next one share is the machine: the files go before the next starts.
class FolderOfMeasure {
public:
    FolderOfMeasure(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
    ~FolderOfMeasure() {
        std::error_code ignored;
        if (!keep_) std::filesystem::remove_all(path_, ignored);
    }
    FolderOfMeasure(const FolderOfMeasure&) = delete;
    FolderOfMeasure& operator=(const FolderOfMeasure&) = delete;

private:
    std::string path_;
    bool keep_;
};

ScaleRows run_in_folder(const ScaleMeasure& measure, const Options& options,
                        const Scratch& scratch) {
    const auto folder = scratch.folder(measure.name);
    if (!folder) return folder.error();
    const FolderOfMeasure files(*folder, options.keep);
    return measure.run(
        {.folder = *folder, .waiting = options.waiting, .limit_s = options.time_limit_s});
}

std::vector<ScaleRow> run_one(const ScaleMeasure& measure, const Options& options,
                              const Scratch& scratch) {
    const Stopwatch watch;
    fmt::print(stderr, "bench: {}: {}…", measure.name, measure.about);
    std::fflush(stderr);
    auto rows = run_in_folder(measure, options, scratch);
    fmt::print(stderr, " {:.1f} s{}\n", watch.seconds(), rows ? "" : ", failed");
    if (rows) return std::move(*rows);
    return {{.name = measure.name,
             .measure = measure.about,
             .by = "",
             .small = {},
             .large = {},
             .wanted = {},
             .note = rows.error().what}};
}

bool is_asked_for(const ScaleMeasure& measure, const Options& options) {
    return options.names.empty() || std::find(options.names.begin(), options.names.end(),
                                              measure.name) != options.names.end();
}

}  // namespace

const std::vector<ScaleMeasure>& scale_measures() {
    static const std::vector<ScaleMeasure> all = {
        {"queues", "drains over 1, 1,000 and 20,000 queues", measure_many_queues},
        {"kinds", "drains over 1 and 20,000 kinds", measure_many_kinds},
        {"tenants", "drains over 1 and 20,000 tenants", measure_many_tenants},
        {"workers", "drains by 1 worker and by 1,000 with different offers", measure_many_workers},
        {"limit", "claims and ends with 10 and 10,000 running under one limit", measure_wide_limit},
        {"attempts", "a job's 10th and its 10,000th attempt", measure_many_attempts},
        {"heartbeats", "heartbeats of 10 and of 1,000 workers with 100 attempts each",
         measure_heartbeats},
        {"submit", "one client that awaits each durable submit", measure_awaited_submits},
        {"idle", "an instance with nothing to do", measure_idle},
        {"retention", "removing ended jobs", measure_retention},
        {"waiting", "many jobs that are ready", measure_many_ready},
        {"after", "many jobs that wait for others", measure_many_after}};
    return all;
}

Result<std::unique_ptr<Instance>> start_in(const ScaleWorld& world, const std::string& name,
                                           InstanceOptions options) {
    options.folder = world.folder + "/" + name;
    std::replace(options.folder.begin(), options.folder.end(), ' ', '-');
    std::error_code failed;
    std::filesystem::create_directory(options.folder, failed);
    if (failed)
        return error(Errc::unavailable, "cannot make " + options.folder + ": " + failed.message());
    return Instance::start(std::move(options));
}

std::vector<ScaleRow> run_scale(const Options& options, const Scratch& scratch) {
    std::vector<ScaleRow> all;
    for (const auto& measure : scale_measures()) {
        if (!is_asked_for(measure, options)) continue;
        auto rows = run_one(measure, options, scratch);
        all.insert(all.end(), std::make_move_iterator(rows.begin()),
                   std::make_move_iterator(rows.end()));
    }
    return all;
}

}  // namespace perdure::bench
