// Drains of 60,000 no-ops over ever more names. The bench is the worker: it ends every assignment
// as soon as it has come, so that the last acknowledged end is seen exactly and nobody has to ask
// the server how many are left.
#include <fmt/format.h>

#include "bench/job_bodies.h"
#include "bench/measures/submitting.h"
#include "bench/scale/scale_measures.h"
#include "bench/workers/fleet.h"

namespace perdure::bench {
namespace {

constexpr std::size_t drain_jobs = 60'000;
constexpr std::size_t drain_slots = 4000;
constexpr std::size_t many_names = 20'000;
constexpr std::size_t many_offers = 1000;
constexpr std::size_t tenant_workers = 200;
constexpr std::string_view by_worker_protocol = "worker protocol";

struct DrainCase {
    std::string what;
    std::function<std::string(std::size_t)> job;  // the n-th
    FleetOptions fleet;
};

Result<void> submit_all(const Instance& server, const DrainCase& drain, double limit_s) {
    auto took = submit_batches({.port = server.port(),
                                .count = drain_jobs / batch_size,
                                .body =
                                    [&](std::size_t batch) {
                                        std::vector<std::string> jobs;
                                        for (std::size_t i = 0; i < batch_size; ++i)
                                            jobs.push_back(drain.job(batch * batch_size + i));
                                        return batch_of(jobs);
                                    },
                                .jobs = drain_jobs,
                                .limit_s = limit_s});
    if (!took) return error(took.error().code, drain.what + ", submitting: " + took.error().what);
    return {};
}

struct Drained {
    Reading rate;
    bool is_finished = false;
    std::size_t fenced = 0;
};

// All jobs are there before the first worker has a stream.
Result<Drained> drain_one(const ScaleWorld& world, const DrainCase& drain) {
    const auto server = start_in(world, drain.what, {.role = "server"});
    if (!server) return server.error();
    if (auto done = submit_all(**server, drain, world.limit_s); !done) return done.error();
    const Deadline deadline(world.limit_s);
    auto options = drain.fleet;
    options.port = (*server)->port();
    const auto fleet = Fleet::open(std::move(options), deadline);
    if (!fleet) return error(fleet.error().code, drain.what + ": " + fleet.error().what);
    const Stopwatch watch;
    const auto ended = (*fleet)->drain(drain_jobs, deadline);
    if (!ended) return error(ended.error().code, drain.what + ": " + ended.error().what);
    return Drained{
        {drain.what, watch.rate(*ended), "/s"}, *ended >= drain_jobs, (*fleet)->fenced()};
}

std::function<std::string(std::size_t)> noops_over(std::size_t queues) {
    return [queues](std::size_t i) { return noop_job(fmt::format("q-{}", i % queues)); };
}

DrainCase queues_case(std::size_t queues) {
    return {fmt::format("{} queue{}", queues, queues == 1 ? "" : "s"),
            noops_over(queues),
            {.slots = drain_slots}};
}

DrainCase kinds_case(std::size_t kinds) {
    return {fmt::format("{} kind{}", kinds, kinds == 1 ? "" : "s"),
            [kinds](std::size_t i) {
                return fmt::format(R"({{"kind":"k-{}","queue":"q"}})", i % kinds);
            },
            {.slots = drain_slots}};
}

// An offer names one tenant. So each worker goes through its part of them, by heartbeats; with one
// tenant it sends as many heartbeats.
DrainCase tenants_case(std::size_t tenants) {
    const auto of_each = drain_jobs / many_names;
    return {fmt::format("{} tenant{}", tenants, tenants == 1 ? "" : "s"),
            [tenants](std::size_t i) {
                return fmt::format(R"({{"kind":"perdure.noop","tenant":"t-{}"}})", i % tenants);
            },
            {.workers = tenant_workers,
             .slots = of_each,
             .offer =
                 [tenants](std::size_t worker, std::size_t turn) {
                     const auto tenant = (worker + turn * tenant_workers) % tenants;
                     return fmt::format(R"({{"tenant":"t-{}"}})", tenant);
                 },
             .jobs_in_turn = of_each}};
}

DrainCase workers_case(std::size_t queues) {
    return {fmt::format("{} workers, {} offer{}", many_offers, queues, queues == 1 ? "" : "s"),
            noops_over(queues),
            {.workers = many_offers,
             .slots = drain_jobs / many_offers,
             .offer = [queues](std::size_t worker, std::size_t) {
                 return fmt::format(R"({{"tenant":"default","queues":["q-{}"]}})", worker % queues);
             }}};
}

ScaleRow drain_row(std::string name, const Drained& small, const Drained& large, Wanted wanted) {
    return {.name = std::move(name),
            .measure = fmt::format("drain of {} no-ops", drain_jobs),
            .by = std::string(by_worker_protocol),
            .small = small.rate,
            .large = large.rate,
            .wanted = wanted,
            .note = large.fenced == 0
                        ? ""
                        : fmt::format("{} attempts were given up unconfirmed. ", large.fenced),
            .gave_up = !large.is_finished};
}

ScaleRows two_drains(const ScaleWorld& world, const std::string& name, const DrainCase& few,
                     const DrainCase& many) {
    const auto small = drain_one(world, few);
    if (!small) return small.error();
    const auto large = drain_one(world, many);
    if (!large) return large.error();
    return std::vector{drain_row(name, *small, *large, Wanted::ratio_at_least(0.5))};
}

}  // namespace

ScaleRows measure_many_queues(const ScaleWorld& world) {
    const auto one = drain_one(world, queues_case(1));
    if (!one) return one.error();
    const auto thousand = drain_one(world, queues_case(1000));
    if (!thousand) return thousand.error();
    const auto most = drain_one(world, queues_case(many_names));
    if (!most) return most.error();
    return std::vector{drain_row("queues", *one, *thousand, Wanted::ratio_at_least(0.7, 0.8)),
                       drain_row("queues", *one, *most, Wanted::ratio_at_least(0.5, 0.6))};
}

ScaleRows measure_many_kinds(const ScaleWorld& world) {
    return two_drains(world, "kinds", kinds_case(1), kinds_case(many_names));
}

ScaleRows measure_many_tenants(const ScaleWorld& world) {
    auto rows = two_drains(world, "tenants", tenants_case(1), tenants_case(many_names));
    if (rows)
        rows->front().note += fmt::format(
            "{} workers; each takes {} jobs of a tenant, then offers the next by a heartbeat; with "
            "one tenant it sends as many heartbeats",
            tenant_workers, drain_jobs / many_names);
    return rows;
}

// Compared with one worker that takes everything; how 1,000 workers of one offer fare is noted.
ScaleRows measure_many_workers(const ScaleWorld& world) {
    const auto alike = drain_one(world, workers_case(1));
    if (!alike) return alike.error();
    auto few = queues_case(1);
    few.what = "1 worker";
    auto rows = two_drains(world, "workers", few, workers_case(many_offers));
    if (rows)
        rows->front().note =
            fmt::format("{} workers with one offer: {:.0f}/s{}", many_offers, alike->rate.value,
                        alike->is_finished ? "" : ", unfinished");
    return rows;
}

}  // namespace perdure::bench
