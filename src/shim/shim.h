// Shim: the supervisor of one attempt [P8]. It waits for the order to start, starts the command
// once (O4), captures its output, keeps its times, answers its socket, kills and verifies its whole
// tree, and leaves a durable result. It outlives its worker and serves the next one (O8).
// All judgement is core's: decide_exec() and decide_lease_kill(); here is the carrying out.
#pragma once

#include <poll.h>
#include <sys/resource.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/explain/evidence.h"
#include "core/ownership/start.h"
#include "core/policy/cause.h"
#include "shim/format/fd.h"
#include "shim/format/order.h"
#include "shim/job_socket_server.h"
#include "shim/output_log.h"
#include "shim/usage.h"
#include "shim/worker_link.h"

namespace perdure {

// How often the kernel has killed for want of memory, by the text of a cgroup's counter.
std::uint64_t oom_kills_in(std::string_view text);

class Shim final : private WorkerOrders, private JobRequests {
public:
    // `directory` is the attempt's, locked, and the current one. Signals are blocked.
    Shim(Fd directory, Fd worker, Order order);

    // Until the result is durable and told. Returns the exit code.
    int run();

private:
    // waiting: for the start. running: the command or what is left of its tree. ended: the result
    // is to be written. told: nothing left to do.
    enum class Phase { waiting, running, ended, told };

    struct Killing {
        Cause cause = Cause::cut_off;
        MonoTime hard_at;  // from then on by SIGKILL
    };
    struct Ask {
        std::uint64_t connection = 0;
        std::uint64_t number = 0;
        JobRequest request;
        MonoTime give_up_at;
        bool told = false;  // to the present worker
    };

    // WorkerOrders
    void on_worker() override;
    void on_record(const Record& record) override;
    void on_start(std::string_view bytes);
    void on_renew(std::string_view bytes);
    void on_answer(std::string_view bytes);

    // JobRequests
    std::optional<std::string> on_request(std::uint64_t connection, JobRequest request) override;
    void on_hang_up(std::uint64_t connection) override;
    void send_next_ask();
    void answer_ask(bool committed);
    void send_next_call();
    void answer_call(const std::string& line);
    void on_reply(std::string_view bytes);

    // Starting (shim_start.cpp)
    void try_exec();
    ExecFacts exec_facts(bool already_started) const;
    bool write_started();
    void exec();
    int open_job_side();
    bool give_to_the_job(const char* name);

    // Ending (shim_end.cpp)
    void kill(Cause cause);
    void kill_now(Cause cause);
    void check_lease();
    void arm_lease_timer();
    void reap();
    void clear_tree();
    void conclude();
    AttemptEnd own_end() const;
    std::uint64_t oom_kills() const;
    void finish(AttemptEnd end, std::string detail);
    void write_result();
    std::string result_left_by_the_job(std::string& detail);

    // The loop
    void act_on_time();
    int wait_ms() const;
    void wait_and_serve();
    void serve(const pollfd& ready);
    void read_output();
    void send_printed();
    void send_progress();

    Fd directory_;
    Order order_;
    WorkerLink link_;
    JobSocketServer job_socket_;
    OutputLog log_;
    Fd signals_;
    Fd lease_timer_;
    Fd output_;  // our end of the job's stdout and stderr

    Phase phase_ = Phase::waiting;
    std::optional<BootTime> go_until_;
    BootTime lease_until_;
    BootTime worker_heard_at_;
    MonoTime alone_since_;

    pid_t leader_ = 0;
    std::optional<int> leader_status_;  // as wait() says
    bool no_children_ = false;
    MonoTime started_at_;
    MonoTime active_at_;  // the last sign of life
    MonoTime sweep_at_;   // the next pass over what is left of the tree
    Duration ran_for_;
    std::uint64_t peak_memory_ = 0;
    Usage usage_;         // of what was reaped
    Usage group_before_;  // of the cgroup, before the start
    std::uint64_t oom_kills_before_ = 0;
    std::optional<Killing> killing_;
    bool exited_before_kill_ = false;

    std::deque<Ask> asks_;
    std::uint64_t last_ask_ = 0;
    std::deque<Ask> calls_;  // apart: a server answers them as it can
    std::uint64_t last_call_ = 0;
    bool clean_ = false;
    std::optional<JobRequest> verdict_;
    std::optional<JobRequest> progress_;
    std::optional<std::string> result_;
    bool printed_unsent_ = false;
    MonoTime may_send_printed_at_;
    bool progress_unsent_ = false;
    MonoTime may_send_progress_at_;

    std::string result_text_;
    bool did_not_run_ = false;
    MonoTime write_again_at_;
};

}  // namespace perdure
