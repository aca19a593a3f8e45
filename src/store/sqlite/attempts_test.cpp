// What a job's earlier attempts cost its next one: nothing (E4).
#include <fmt/format.h>

#include "store/engine/rows/codec.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

constexpr JobId retried{10};

CustomRule run_again_after(Cause cause) { return {.causes = {cause}, .times = 5'000}; }

class AttemptsOnDisk : public OnDisk {
protected:
    // A worker without a policy of its own leaves the job to the server's, which has this rule,
    // too.
    static OpenSession worker(std::uint64_t id, std::vector<CustomRule> rules = {}) {
        OpenSession session{.session = SessionId{id}, .slots = 5, .lease = days(1)};
        session.directory.inode = id;
        if (!rules.empty()) {
            PolicyChoice policy{.rules = std::move(rules), .level = PolicyLevel::worker};
            session.policy = std::make_shared<const PolicyChoice>(std::move(policy));
        }
        return session;
    }

    // Its first attempt runs then.
    void begin(const OpenSession& session) {
        open();
        auto spec = *submit(retried.value).spec;
        spec.policy.rules = {run_again_after(Cause::exit)};
        spec.policy.level = PolicyLevel::server;
        all_good({Submit{retried, std::make_shared<const JobSpec>(spec), 1}, session,
                  OpenStream{session.session}, Claim{session.session, 1, 1}});
        owner = session.session;
        epoch = Epoch{1};
    }
    void all_good(std::vector<Change> changes) {
        const auto reply = commit(std::move(changes));
        ASSERT_TRUE(reply.has_value()) << reply.error().what;
        for (const auto& one : reply->replies) ASSERT_TRUE(one.has_value()) << one.error().what;
    }
    Report failed() const {
        return {.session = owner,
                .attempt = {retried, epoch},
                .end = {.cause = Cause::exit, .ran = Ran::yes, .exit_code = 1}};
    }
    void run_until(std::uint32_t last) {
        while (epoch.value < last) {
            all_good({failed(), Claim{owner, 1, 1}});
            epoch = epoch.next();
        }
    }
    void save(const std::string& checkpoint) {
        all_good({Start{.session = owner, .attempt = {retried, epoch}},
                  Progress{.kind = Progress::Kind::checkpoint,
                           .session = owner,
                           .attempt = {retried, epoch},
                           .checkpoint = checkpoint,
                           .number = 1}});
    }
    // Nothing is given to a worker that this life of the server has not heard.
    void open_and_hear() {
        open();
        const auto number = running().assignment;
        all_good({Heartbeat{.session = owner,
                            .number = ++heartbeats,
                            .seen = number,
                            .slots = 5,
                            .lease = days(1),
                            .attempts = {{{retried, epoch}, number, Listed::Phase::running}}}});
    }
    // What the session is told of the attempt that it runs.
    RunView running() {
        const auto view = run(store->session(owner));
        if (!view || view->runs.size() != 1) {
            ADD_FAILURE() << "it cannot be read";
            return {};
        }
        return view->runs.front();
    }
    std::string blob(const char* query) {
        sqlite3* handle = nullptr;
        EXPECT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(handle, query, -1, &statement, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, 0));
        std::string found(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
        sqlite3_finalize(statement);
        sqlite3_close(handle);
        return found;
    }
    static std::string hex(const std::string& bytes) {
        std::string text;
        for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
        return text;
    }
    bool fsck_says(const char* what) {
        const auto findings = fsck();
        return std::any_of(findings.begin(), findings.end(), [&](const FsckFinding& finding) {
            return finding.what.find(what) != std::string::npos;
        });
    }

    SessionId owner;
    Epoch epoch;
    std::uint64_t heartbeats = 0;
};

// None of them can be understood, but the one that saved the checkpoint: nobody asks for them.
TEST_F(AttemptsOnDisk, the_thousandth_end_and_the_next_claim_read_one_earlier_attempt) {
    begin(worker(20));
    run_until(900);
    save("half");
    run_until(1'000);
    store.reset();
    sql("UPDATE attempt SET body = x'63' WHERE epoch <> 900");
    open_and_hear();
    EXPECT_EQ(running().counts.of_rule(1), 999U);
    run_until(1'002);
    EXPECT_EQ(running().checkpoint, "half");
    EXPECT_EQ(running().counts.of_rule(1), 1'001U);
}

TEST_F(AttemptsOnDisk, a_policy_that_is_new_to_the_job_counts_the_last_thousand) {
    begin(worker(20));
    run_until(1'005);
    const auto other = worker(21, {run_again_after(Cause::oom), run_again_after(Cause::exit)});
    all_good({other, OpenStream{other.session}, failed(), Claim{other.session, 1, 1}});
    store.reset();
    sql("UPDATE attempt SET body = x'63' WHERE epoch <= 5");
    owner = other.session;
    epoch = epoch.next();
    open_and_hear();
    EXPECT_EQ(running().counts.of_rule(2), 1'000U);
    run_until(1'008);
    EXPECT_EQ(running().counts.of_rule(2), 1'002U) << "from then on they are carried";
}

TEST_F(AttemptsOnDisk, rows_of_an_earlier_release_are_counted_once) {
    begin(worker(20));
    run_until(3);
    save("half");
    run_until(5);
    store.reset();
    store::JobRow job;
    decode_life(blob("SELECT life FROM run"), job);
    ASSERT_TRUE(job.earlier);
    job.earlier.reset();
    sql(fmt::format("UPDATE run SET life = x'{}'", hex(encode_life(job))));
    EXPECT_TRUE(fsck().empty());
    open_and_hear();
    EXPECT_EQ(running().counts.of_rule(1), 4U);
    EXPECT_EQ(running().checkpoint, "half");
    run_until(6);
    store.reset();
    sql("UPDATE attempt SET body = x'63' WHERE epoch <> 3");
    open_and_hear();
    run_until(8);
    EXPECT_EQ(running().counts.of_rule(1), 7U);
    EXPECT_EQ(running().checkpoint, "half");
}

TEST_F(AttemptsOnDisk, fsck_compares_what_is_carried_with_the_attempts) {
    for (const bool by_worker : {false, true}) {
        SCOPED_TRACE(by_worker);
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        last_group = 0;
        begin(worker(
            20, by_worker ? std::vector{run_again_after(Cause::exit)} : std::vector<CustomRule>{}));
        run_until(2);
        save("half");
        run_until(4);
        store.reset();
        EXPECT_TRUE(fsck().empty());
        auto second = store::decode_attempt(blob("SELECT body FROM attempt WHERE epoch = 2"));
        second.end->counted = false;
        sql(fmt::format("UPDATE attempt SET body = x'{}' WHERE epoch = 2", hex(encode(second))));
        EXPECT_TRUE(fsck_says("counts other ends"));
        EXPECT_FALSE(fsck_says("another checkpoint"));
        second.checkpoint = {};
        sql(fmt::format("UPDATE attempt SET body = x'{}' WHERE epoch = 2", hex(encode(second))));
        EXPECT_FALSE(fsck().empty());
    }
}

}  // namespace
}  // namespace perdure
