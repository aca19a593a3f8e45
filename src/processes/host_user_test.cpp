// Jobs of another user (U1): what they can and cannot reach, and that nothing of them is left. By
// uid, so that the host needs no accounts for it; as root only.
#include <sys/stat.h>

#include "processes/accounts.h"
#include "processes/testing/harness.h"
#include "shim/format/attempt_files.h"

namespace perdure {
namespace {

constexpr std::uint32_t uid = 54'321;
constexpr std::uint32_t gid = 54'322;

class HostUserTest : public ProcessesTest {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        ASSERT_EQ(::chmod(root_.c_str(), 0711), 0);
        std::filesystem::create_directories(root_ + "/deep");
        ::chmod((root_ + "/deep").c_str(), 0711);
        options_.account = {.name = "them",
                            .credentials = {.uid = uid, .gid = gid, .groups = {gid, 54'323}},
                            .home = "/tmp",
                            .shell = "/bin/sh"};
        options_.become = options_.account.credentials;
        std::filesystem::create_directory(root_ + "/theirs");
        ASSERT_EQ(::chown((root_ + "/theirs").c_str(), uid, gid), 0);
        open();
    }
    std::string theirs(const std::string& name) const { return root_ + "/theirs/" + name; }
    struct stat about(const std::string& path) const {
        struct stat found {};
        EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
        return found;
    }
    std::string work(AttemptKey key) const { return directory(key) + "/" + attempt_files::work; }
    std::string printed_by(const std::string& script) {
        const auto key = begin(shell(script));
        end_of(key);
        return output(key);
    }
    std::vector<std::string> left_of_them() const {
        std::vector<std::string> found;
        for (const auto& file : std::filesystem::recursive_directory_iterator(options_.directory)) {
            struct stat about {};
            if (::lstat(file.path().c_str(), &about) == 0 && about.st_uid == uid)
                found.push_back(file.path());
        }
        return found;
    }
};

TEST_F(HostUserTest, the_job_has_that_user_and_no_right_of_its_worker) {
    EXPECT_EQ(printed_by("id -u; id -ru; id -g; id -rg; id -G; umask"),
              "54321\n54321\n54322\n54322\n54322 54323\n0022\n");
    EXPECT_EQ(printed_by("grep -E '^Cap(Inh|Prm|Eff|Amb)|^NoNewPrivs' /proc/self/status | "
                         "tr -d '[:space:]'"),
              "CapInh:0000000000000000CapPrm:0000000000000000CapEff:0000000000000000"
              "CapAmb:0000000000000000NoNewPrivs:1");
    EXPECT_EQ(printed_by("echo $HOME $USER $LOGNAME $SHELL"), "/tmp them them /bin/sh\n");
}

TEST_F(HostUserTest, what_is_for_the_job_is_its_own) {
    auto spec = shell(
        "set -e; cat \"$PERDURE_ARGS\"; echo '[1]' >result; touch \"$TMPDIR/x\"; "
        "chmod 600 result; test -w \"$PERDURE_SOCKET\"; exit 0");
    spec.args = R"({"a":1})";
    const auto key = begin(spec);
    const auto event = end_of(key);
    EXPECT_TRUE(event.end.succeeded) << output(key);
    EXPECT_EQ(output(key), R"({"a":1})");
    EXPECT_EQ(event.evidence->result, "[1]\n");
}

TEST_F(HostUserTest, what_is_not_for_the_job_can_be_neither_read_nor_changed) {
    const auto key =
        begin(shell("d=$(dirname \"$PERDURE_SOCKET\"); cd /; ls \"$d\"; cat \"$d/order\"; "
                    "echo x >\"$d/result.json\"; echo x >>\"$d/output\"; rm -f \"$d/started\"; "
                    "mv \"$d/work\" \"$d/w\"; ls \"$d/..\"; ls \"$d/../..\"; "
                    "kill -9 $PPID; exit 7"));
    const auto event = end_of(key);
    EXPECT_EQ(event.end.cause, Cause::exit);
    EXPECT_EQ(event.end.exit_code, 7);
    EXPECT_EQ(event.end.ran, Ran::yes);
    const auto text = output(key);
    std::size_t refusals = 0;
    for (auto at = text.find("ermi"); at != std::string::npos; at = text.find("ermi", at + 1))
        ++refusals;
    EXPECT_EQ(refusals, 9U) << text;  // "Permission denied", "Operation not permitted"
    EXPECT_EQ(about(directory(key)).st_mode & 0777, 0711U);
    EXPECT_EQ(about(directory(key) + "/order").st_uid, 0U);
    EXPECT_EQ(about(directory(key) + "/order").st_mode & 0777, 0600U);
}

TEST_F(HostUserTest, its_tree_is_killed_whatever_it_does) {
    const auto key = begin(shell("setsid sh -c 'trap \"\" TERM; echo $$ >" + theirs("pid") +
                                 "; while :; do sleep 1; done' & while :; do sleep 1; done"));
    const auto pid = std::stoi(text_of(theirs("pid")));
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
    EXPECT_FALSE(lives(pid));
}

TEST_F(HostUserTest, goes_on_under_the_next_worker_and_dies_with_its_shim) {
    const auto key = begin(
        shell("echo $$ >" + theirs("pid") + "; echo $PPID >" + theirs("shim") + "; exec sleep 60"));
    const auto pid = std::stoi(text_of(theirs("pid")));
    crash();
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_TRUE(life.found[0].shim_alive);
    EXPECT_TRUE(lives(pid));
    kill_and_wait(std::stoi(text_of(theirs("shim"))));
    EXPECT_EQ(end_of(key).end.cause, Cause::shim_lost);
    EXPECT_FALSE(lives(pid));
}

TEST_F(HostUserTest, no_file_of_the_job_is_left_or_given_to_the_next_one) {
    const auto key =
        begin(shell("mkdir -p a/b; echo secret >a/b/c; chmod 0 a/b a; "
                    "ln -s /etc link; mkfifo pipe"));
    EXPECT_TRUE(end_of(key).end.succeeded);
    processes_->forget(key);
    until("it is gone", [&] { return left_of_them().empty(); });
    const auto next = begin(shell("ls -A; stat -c %u ."));
    end_of(next);
    EXPECT_EQ(output(next), "54321\n");
    processes_->forget(next);
    until("it is gone", [&] { return left_of_them().empty(); });
}

// What a second name of somebody else's file would let it read.
TEST_F(HostUserTest, a_result_that_is_not_its_own_file_is_not_read) {
    std::ofstream(root_ + "/precious") << "[42]";
    ::chmod((root_ + "/precious").c_str(), 0600);
    const auto key = begin(shell("until test -e result; do sleep 0.01; done"));
    until("its folder is there", [&] { return std::filesystem::exists(work(key)); });
    std::filesystem::create_hard_link(root_ + "/precious",
                                      work(key) + "/" + attempt_files::work_result);
    const auto event = end_of(key);
    EXPECT_EQ(event.evidence->result, "");
    EXPECT_EQ(about(root_ + "/precious").st_uid, 0U);
}

TEST_F(HostUserTest, a_worker_whose_state_the_job_cannot_reach_does_not_start) {
    crash();
    ::chmod(root_.c_str(), 0700);
    const auto life = try_open();
    ASSERT_TRUE(life.is(Errc::invalid));
    EXPECT_NE(life.error().what.find("may not pass " + root_), std::string::npos)
        << life.error().what;
    ::chmod(root_.c_str(), 0711);
}

TEST(Users, are_found_by_name_and_by_number) {
    const auto root = find_account("root");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->credentials.uid, 0U);
    EXPECT_EQ(find_account("0")->name, "root");
    const auto nobody_knows = find_account("54321");
    ASSERT_TRUE(nobody_knows);
    EXPECT_EQ(nobody_knows->credentials, (Credentials{.uid = 54'321, .gid = 54'321}));
    for (const auto* name : {"no such user", "4294967295", "-1", "1x"})
        EXPECT_TRUE(find_account(name).is(Errc::invalid)) << name;
}

TEST(Users, a_submitter_is_refused_with_a_sentence_and_oneself_changes_nothing) {
    EXPECT_TRUE(find_job_user("submitter").is(Errc::invalid));
    const auto none = find_job_user("");
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    const auto self = find_job_user(std::to_string(::geteuid()));
    ASSERT_TRUE(self);
    EXPECT_FALSE(*self);
}

}  // namespace
}  // namespace perdure
