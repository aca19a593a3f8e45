// Clients: people and programs that submit jobs, repeat what was not answered with the same
// idempotency key, cancel, hold, deal with what is in quarantine, change limits, pause queues.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkers/history.h"
#include "sim/cluster.h"

namespace perdure::sim {

inline constexpr auto client_timeout = seconds(6);
inline constexpr std::size_t backlog_size = 24;
inline constexpr std::uint8_t backlog_priority = 5;

// A server's answer, apart from the network's: a lost message says nothing, a refusal does.
template <class Reply>
struct Answered {
    Result<Reply> reply;
};

template <class Reply>
Task<Result<Answered<Reply>>> wrap(Task<Result<Reply>> task) {
    auto reply = co_await std::move(task);
    co_return Answered<Reply>{std::move(reply)};
}

class Clients {
public:
    struct Parts {
        World& world;
        const Plan& plan;
        Cluster& cluster;
        Scripts& scripts;
        History& history;
    };
    explicit Clients(Parts parts);

    // One coroutine for each client, until `until`.
    void start(TrueTime until);
    // One job, submitted now and repeated until it is accepted or definitely refused.
    Task<std::optional<JobId>> submit(std::size_t client, JobSpec spec);

private:
    // What a client has been told of.
    struct Known {
        JobId id;
        std::string tenant;
        std::string key;
    };
    std::string draw_tenant() { return draw_of(parts_.plan.tenants); }
    const std::string& draw_of(const std::vector<std::string>& names) {
        return names[rng_.below(names.size())];
    }
    // What a client of this tenant would write.
    JobSpec draw_spec(const std::string& tenant);
    bool is_done(TrueTime until) const;
    Task<void> live(std::size_t client, TrueTime until);
    Task<void> meddle(std::size_t client);
    Task<void> cancel(std::size_t client, JobId job);
    Task<JobId> find_quarantined(std::size_t client);
    Task<void> deal_with(std::size_t client);
    Task<void> hold_for_a_while(std::size_t client, JobId job);
    // client_relations.cpp
    Callback draw_callback(int level, const std::string& tenant);
    void relate(JobSpec& spec);
    std::optional<JobSpec> draw_submitted();
    std::vector<JobRequest> draw_batch();
    void note_accepted(const SubmitKey& key, JobId id);
    std::vector<JobRequest> draw_backlog(const std::string& tenant);
    Task<void> submit_batch(std::size_t client, std::vector<JobRequest> batch);
    Task<void> add_callback(std::size_t client, const Known& job);
    // client_settings.cpp
    Task<void> prepare_limits(std::size_t client);
    Task<bool> define_limit(std::size_t client, DefineLimit limit);
    Task<bool> pause(std::size_t client, PauseQueue pause);
    Task<void> let_go_on(std::size_t client, PauseQueue pause);
    Task<void> change_settings(std::size_t client);
    Task<void> let_all_go_on(std::size_t client, TrueTime from);
    template <class Reply, class Handle>
    Task<std::optional<Result<Reply>>> ask(std::size_t client, Handle handle);

    Parts parts_;
    Rng rng_;
    std::vector<Life> lives_;
    std::vector<Known> known_;
    std::map<std::string, std::uint64_t> last_key_;  // by tenant: all have the same keys
};

// Empty: no answer came. Otherwise what the server said.
template <class Reply, class Handle>
Task<std::optional<Result<Reply>>> Clients::ask(std::size_t client, Handle handle) {
    auto& cluster = parts_.cluster;
    const auto server = static_cast<std::size_t>(rng_.below(cluster.server_count()));
    auto serve = [&cluster, server, handle](std::function<void(Result<Answered<Reply>>)> answer) {
        cluster.serve<Answered<Reply>>(server, std::move(answer), [handle](Server& target) {
            return wrap<Reply>(handle(target.jobs()));
        });
    };
    SimNetwork::Call<Answered<Reply>> call{.caller = lives_[client],
                                           .from = cluster.client_node(client),
                                           .to = cluster.server(server).node,
                                           .timeout = client_timeout,
                                           .serve = serve,
                                           .once = true};
    auto answered = co_await cluster.parts().network.call<Answered<Reply>>(std::move(call));
    ++parts_.history.operations;
    if (!answered) co_return std::nullopt;
    co_return std::move(answered->reply);
}

}  // namespace perdure::sim
