// State: the working set that changes are applied to. Small tables are here as a whole; jobs are
// loaded when they are needed and kept for a while. All of it is only ever a copy of committed rows
// and of the group that is being applied: after a failure the whole State is thrown away.
// What has changed is pending until the end of the group; then it is written, once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "store/engine/damage_book.h"
#include "store/engine/rows/rows.h"
#include "store/engine/state/debts.h"
#include "store/engine/state/fronts.h"
#include "store/engine/state/group_rows.h"
#include "store/engine/state/holders.h"
#include "store/engine/state/lines.h"
#include "store/engine/state/relations.h"
#include "store/engine/state/shapes.h"
#include "store/engine/tables.h"

namespace perdure::store {

// What only the deliberate bugs need; empty in every other build.
struct ZooRows {
    std::map<std::pair<SessionId, ServerId>, std::uint64_t> assignments;
    std::map<DirectoryPlace, std::uint32_t> leaked_slots;
    std::map<SessionId, ServiceTime> swept_leases;
};

class State {
public:
    State(Tables& of, const Timing& t, const QueueWeights& weights, DamageBook& b)
        : State(of, t, weights, b, of.contents()) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const Timing timing;
    Tables& tables;
    GroupRows rows;  // that the group asks its tables for
    DamageBook& book;
    Pending pending{rows};
    Shapes shapes;
    Fronts fronts;
    Holders holders;
    Relations relations;
    Debts debts;
    const ServiceRow& service = service_;  // written with every group
    ServiceRow& change_service() {
        rows.leap();
        return service_;
    }

    // Of the group that is being applied.
    ServerId server;
    bool stays_unwritten = false;
    bool work_appeared = false;
    std::vector<Recovery> recoveries;
    std::vector<Fronts::Head> promoted;  // jobs that came back into `ready` from `blocked`
    std::uint32_t lines_read = 0;        // whose fronts claims had to read
    std::deque<JobId> ended;             // and somebody waits for it; see run_end_effects()
    // How many rows it may still touch that no change has named; what is beyond is owed (C8).
    std::uint32_t room = 0;
    void spend(std::size_t rows) {
        room -= static_cast<std::uint32_t>(std::min<std::size_t>(rows, room));
    }

    ServiceTime now() const { return service.clock.now; }
    bool is_paused(const JobRow& job) const {
        return shapes.is_paused(job.spec->tenant, job.spec->queue);
    }
    bool holds_its_permits(const JobRow& job) const;
    ZooRows zoo_rows;

    // The last job that was looked for or changed: whose rows they are, if something fails.
    JobId at;
    // It is left alone from now on. False: it was before, or there is no such job.
    bool isolate_last(const Error& why);

    // Jobs. A pointer is good until the end of the group, or until the job is forgotten.
    JobRow* job(JobId id);
    JobRow& job_that_exists(JobId id);
    // Nothing if the row cannot be understood, for those who can go on without it.
    JobRow* readable(JobId id);
    // Nothing if the row cannot be understood, null if there is none.
    std::optional<JobRow*> find_job(JobId id);
    JobRow& add(JobRow job);
    JobRow& add_ready(JobId id, const LineReader::LoadRow& load);
    JobRow* loaded(JobId id);  // if it is in memory
    // Whether the tables have to be asked for it.
    bool is_unloaded(JobId id) const;
    // All at once, of those that are not in memory.
    template <class Ids>
    void load_jobs(const Ids& ids) {
        std::set<JobId> unloaded;
        for (const JobId id : ids)
            if (is_unloaded(id)) unloaded.insert(id);
        rows.load_jobs(std::move(unloaded));
    }
    void leave_alone_if_damaged(JobId id) const;
    void touch(JobRow& job);
    void put(JobRow& job, PlaceRow next);
    void forget(JobRow& job);
    const std::set<JobId>& forgotten() const { return forgotten_; }  // by this group
    void keep(JobRow& job, AttemptRow& attempt, Large kind, const std::string* bytes);
    // It was asked for an attempt that is not its newest: those are let go with the group.
    void note_older(const JobRow& job) { with_history_.push_back(job.id); }

    // What the tables show, and this group has changed.
    Lines& lines() { return lines_; }
    JobReader& job_rows() { return job_rows_; }
    ServiceTime tidied_at;  // the tables were, last
    // Which of all stored jobs was submitted first, as far as a walk through them has found out.
    struct FirstSubmit {
        JobId job;  // none: there was no job
        ServiceTime at;
    };
    std::optional<FirstSubmit> first_submit;
    struct SubmitWalk {
        JobId after;
        ServiceTime began;
        std::optional<FirstSubmit> first;
    };
    std::optional<SubmitWalk> submit_walk;
    SessionId session_walk;           // retention has looked at the sessions up to this one
    bool lines_are_in_memory = true;  // the last job that was met in a line was
    // An attempt in `run`, as far as heartbeats and sweeps judge it: they look at its job only if
    // something is to be done.
    struct RunMark {
        Run run;
        Terms terms;
        ServiceTime claimed_at;
    };
    using Runs = std::map<std::pair<std::uint64_t, JobId>, RunMark>;  // by assignment number
    const std::map<SessionId, Runs>& runs() const { return runs_; }
    const Runs& runs_of(SessionId session) const;
    bool has_unconfirmed_start(SessionId session);
    // Some attempt in `run` may be: of one of them the lease or the confirmation is over.
    bool has_overdue_attempts();

    // What stays in memory while nothing is to be done (T4).
    std::optional<ServiceTime> unwritten_since;  // nothing: the tables show all
    std::uint64_t written_tick() const { return written_tick_; }
    // It is kept in a note, from where the next life has it, while the tables stay as they are.
    bool can_be_noted() const { return base_.has_value() && tables.takes_notes(); }
    // The mark of a server's ids was raised: that is told by its row alone (L3).
    void note_mark() { base_.reset(); }
    void write_note();
    const LineReader::Due& next_due();
    bool has_work() const;
    // Sessions of which this life of the server has heard nothing: what they were told by the last
    // one may be lost.
    std::set<SessionId> unheard;
    void await_heartbeats();

    // Sessions.
    const SessionRow* session(SessionId id) const;
    const SessionRow& session_that_exists(SessionId id) const;
    SessionRow& change_session(SessionId id);
    SessionRow& add_session(SessionRow session);
    void forget_session(SessionId id);
    std::optional<SessionId> latest_session(const StateDirectory& directory) const;
    const std::map<SessionId, SessionRow>& sessions() const { return sessions_; }
    std::uint64_t draw_assignment(SessionId session);

    // Servers.
    std::map<ServerId, ServerRow>& servers() { return servers_; }
    const std::map<ServerId, ServerRow>& servers() const { return servers_; }
    void save_server(ServerId id);
    void remove_server(ServerId id);

    // Idempotency keys.
    std::optional<IdempotencyRow> key(const JobSpec& spec);
    void put_key(const JobSpec& spec, const IdempotencyRow& row);
    void drop_keys(const std::vector<KeyName>& old);

    // Writes everything that has changed: once, before the commit.
    void save_all();
    // Jobs that have ended are let go, and others when there are too many.
    void trim();
    // All jobs are let go, as if there were no room for any: the next group has to load its own.
    void forget_jobs();

private:
    State(Tables& tables, const Timing& timing, const QueueWeights& weights, DamageBook& book,
          Contents contents);

    // load_state.cpp
    using Holding = std::set<JobId>;  // who may hold something
    void take_sessions(Contents& contents);
    void take_runs(const Contents& contents, Holding& holding);
    void check_kept(Holding& holding);
    void check_run(JobId id, const JobRow& job);
    void check_holders(const Holding& holding);
    void note_damaged_run(const Contents::RunOf& run);
    void note_overdue(ServiceTime from) {
        none_overdue_until_ = std::min(none_overdue_until_, from);
    }
    static RunMark mark_of(const JobRow& job, const Run& run);
    void index(const JobRow& job, int step);
    bool is_full(std::size_t parts) const;
    void let_go(JobId id);

    // Rows by key; what is pending is not asked for from the tables.
    class JobRows : public JobReader {
    public:
        explicit JobRows(State& of) : of_(of) {}
        std::optional<JobRow> job(JobId id) override { return of_.rows.job(id); }
        std::vector<AttemptRow> history(JobId job, Epoch from, Epoch before) override {
            return of_.rows.history(job, from, before);
        }
        std::string large(AttemptKey attempt, Large kind) override;
        std::optional<IdempotencyRow> idempotency(const std::string& tenant,
                                                  const std::string& key) override;

    private:
        State& of_;
    };

    ServiceRow service_;
    JobsInMemory jobs_;
    Lines lines_;
    JobRows job_rows_{*this};
    std::set<JobId> forgotten_;  // by this group
    std::size_t jobs_bytes_ = 0;
    std::vector<JobId> ended_jobs_;    // met in this group, some of them twice
    std::vector<JobId> with_history_;  // in this group, with more than their newest attempt
    JobId highest_job_;
    std::map<SessionId, Runs> runs_;
    std::size_t running_ = 0;  // in all of them
    // Nothing of the session that starts has to be confirmed before this.
    std::map<SessionId, ServiceTime> confirmed_until_;
    ServiceTime none_overdue_until_;  // no attempt is, before this
    std::map<SessionId, SessionRow> sessions_;
    std::set<SessionId> changed_sessions_;
    std::map<DirectoryPlace, SessionId> latest_sessions_;
    std::map<ServerId, ServerRow> servers_;
    std::uint64_t written_tick_ = 0;
    // What the tables show; empty: a note cannot be written until they are written.
    std::optional<IdleNote::Base> base_;
    std::optional<LineReader::Due> next_due_;  // since the last group that was written
};

}  // namespace perdure::store
