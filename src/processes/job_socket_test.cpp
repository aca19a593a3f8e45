// The job's socket, spoken to from outside: any process may, that finds it.
#include <sys/socket.h>
#include <sys/un.h>

#include "processes/host_processes.h"
#include "processes/testing/harness.h"

namespace perdure {
namespace {

class JobSocketTest : public ProcessesTest {
protected:
    void SetUp() override { open(); }

    Fd connect(AttemptKey key) {
        Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        (directory(key) + "/job").copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        return fd;
    }
    static void say(const Fd& fd, std::string_view text) {
        ASSERT_EQ(write_all(fd.get(), text), 0);
    }
    std::string heard(const Fd& fd) {
        std::string line;
        until("there is an answer", [&] {
            char c = 0;
            while (::recv(fd.get(), &c, 1, MSG_DONTWAIT) == 1) {
                if (c == '\n') return true;
                line += c;
            }
            return false;
        });
        return line;
    }
    std::string ask(const Fd& fd, std::string_view text) {
        say(fd, text);
        return heard(fd);
    }
    AttemptKey begin_waiting() {
        const auto key =
            begin(shell("while [ ! -e " + root_ + "/end ]; do sleep 0.01; done; exit 1"));
        wait_for(key, Kind::started);
        return key;
    }
    ProcessEvent let_end(AttemptKey key) {
        std::ofstream(root_ + "/end") << "x";
        return end_of(key);
    }
};

TEST_F(JobSocketTest, begin_and_checkpoint_are_answered_after_the_commit) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    say(job, "checkpoint 7\n{\"a\":1}begin\n");
    const auto saved = wait_for(key, Kind::checkpoint);
    EXPECT_EQ(saved.checkpoint, R"({"a":1})");
    EXPECT_EQ(count(key, Kind::begin), 0U);  // one at a time
    processes_->answer(key, Kind::checkpoint, true);
    EXPECT_EQ(heard(job), "ok");
    const auto begun = wait_for(key, Kind::begin);
    EXPECT_GT(begun.number, saved.number);
    processes_->answer(key, Kind::begin, false);
    EXPECT_TRUE(heard(job).starts_with("error not_committed "));
    EXPECT_TRUE(let_end(key).end.clean);  // the begin was not committed
}

TEST_F(JobSocketTest, a_committed_begin_makes_it_dirty_again) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    say(job, "checkpoint 0\n");
    wait_for(key, Kind::checkpoint);
    processes_->answer(key, Kind::checkpoint, true);
    EXPECT_EQ(heard(job), "ok");
    say(job, "begin\n");
    wait_for(key, Kind::begin);
    processes_->answer(key, Kind::begin, true);
    EXPECT_EQ(heard(job), "ok");
    EXPECT_FALSE(let_end(key).end.clean);
}

TEST_F(JobSocketTest, what_was_asked_of_a_dead_worker_is_asked_of_the_next) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    say(job, "begin\n");
    const auto first = wait_for(key, Kind::begin);
    crash();
    open();
    const auto again = wait_for(key, Kind::begin);
    EXPECT_EQ(again.number, first.number);
    processes_->answer(key, Kind::begin, true);
    EXPECT_EQ(heard(job), "ok");
    let_end(key);
}

// [P2]: the attempt is the shim's word, whoever speaks to its socket.
TEST_F(JobSocketTest, a_call_is_passed_on_and_its_reply_is_one_line) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    say(job, "call POST /v1/jobs 2\n{}call GET /v1/jobs/x 0\n");
    const auto first = wait_for(key, Kind::call).call;
    EXPECT_EQ(first.attempt, key);
    EXPECT_EQ(first.method, "POST");
    EXPECT_EQ(first.target, "/v1/jobs");
    EXPECT_EQ(first.body, "{}");
    EXPECT_EQ(count(key, Kind::call), 1U) << "one at a time";
    processes_->reply(key, first.number + 1, {.status = 500, .body = "of another"});
    processes_->reply(key, first.number, {.status = 201, .body = "{\n\"id\":1}"});
    EXPECT_EQ(heard(job), "ok 201 { \"id\":1}");
    until("the next one comes", [&] { return count(key, Kind::call) == 2; });
    processes_->reply(key, first.number + 1, {.status = 404, .body = "{}"});
    EXPECT_EQ(heard(job), "ok 404 {}");
    let_end(key);
}

TEST_F(JobSocketTest, a_call_to_a_dead_worker_goes_to_the_next_with_the_same_number) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    say(job, "call POST /v1/jobs 2\n{}");
    const auto first = wait_for(key, Kind::call).call;
    crash();
    open();
    const auto again = wait_for(key, Kind::call).call;
    EXPECT_EQ(again.number, first.number);
    EXPECT_EQ(again.body, "{}");
    processes_->reply(key, again.number, {.status = 201, .body = "{}"});
    EXPECT_EQ(heard(job), "ok 201 {}");
    let_end(key);
}

TEST_F(JobSocketTest, a_verdict_says_what_a_failure_means) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    EXPECT_EQ(ask(job, "verdict retry\n"), "ok");
    EXPECT_EQ(ask(job, "verdict at 2026-11-15T08:00:00Z\n"), "ok");
    const auto end = let_end(key).end;
    EXPECT_EQ(end.cause, Cause::verdict_at);
    EXPECT_EQ(end.at, WallTime{seconds(1'794'729'600).us});
    EXPECT_EQ(end.exit_code, 1);
}

TEST_F(JobSocketTest, progress_and_result_are_evidence) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    EXPECT_EQ(ask(job, "progress 40 half way\n"), "ok");
    EXPECT_EQ(ask(job, "result 2\n{}"), "ok");
    EXPECT_EQ(ask(job, "result 9\n{\"n\": 12}"), "ok");
    const auto event = let_end(key);
    EXPECT_EQ(event.evidence->result, R"({"n": 12})");
    EXPECT_EQ(event.evidence->detail, "last progress: 40 % half way");
}

TEST_F(JobSocketTest, nonsense_is_refused_and_the_connection_closed) {
    const auto key = begin_waiting();
    for (const std::string_view text : {"verdict maybe\n", "progress much\n", "checkpoint -1\n",
                                        "checkpoint 1048577\n", "result 1\n{", "hello\n", "\n"}) {
        const auto job = connect(key);
        EXPECT_TRUE(ask(job, text).starts_with("error invalid ")) << text;
        char c = 0;
        EXPECT_EQ(::recv(job.get(), &c, 1, 0), 0) << text;
    }
    EXPECT_EQ(let_end(key).end.cause, Cause::exit);
}

TEST_F(JobSocketTest, a_large_checkpoint_arrives_whole) {
    const auto key = begin_waiting();
    const auto job = connect(key);
    const std::string body(std::size_t{1} << 20, 'x');
    say(job, "checkpoint " + std::to_string(body.size()) + "\n" + body);
    EXPECT_EQ(wait_for(key, Kind::checkpoint).checkpoint, body);
    processes_->answer(key, Kind::checkpoint, true);
    EXPECT_EQ(heard(job), "ok");
    let_end(key);
}

TEST_F(JobSocketTest, a_flood_hurts_only_the_job_itself) {
    const auto key = begin(command({"sleep", "60"}));
    wait_for(key, Kind::started);
    std::vector<Fd> crowd;
    std::string lines;
    while (lines.size() < 100'000) lines += "progress 1 flood\n";
    for (int i = 0; i < 60; ++i) {
        crowd.push_back(connect(key));
        ::send(crowd.back().get(), lines.data(), lines.size(), MSG_DONTWAIT);
    }
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
}

}  // namespace
}  // namespace perdure
