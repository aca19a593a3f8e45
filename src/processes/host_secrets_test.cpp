// Secrets of jobs: a job gets what its list lets it have, and no byte of it is left on the worker's
// disk, neither while it runs nor afterwards.
#include <sys/stat.h>

#include "processes/testing/harness.h"
#include "shim/format/order.h"

namespace perdure {
namespace {

class HostSecretsTest : public ProcessesTest {
protected:
    HostSecretsTest() {
        options_.secrets = root_ + "/secrets";
        std::filesystem::create_directory(options_.secrets);
        ::chmod(options_.secrets.c_str(), 0700);
        keep("db", "hunter2\n");
        keep("db.allow", "queue=billing\n");
    }
    std::string path(const std::string& name) const { return options_.secrets + "/" + name; }
    void keep(const std::string& name, const std::string& text, mode_t mode = 0600) {
        std::filesystem::remove(path(name));
        std::ofstream(path(name)) << text;
        ::chmod(path(name).c_str(), mode);
    }
    JobSpec wanting(std::string value, std::string script = "printf '%s' \"$V\"") {
        auto spec = shell(std::move(script));
        spec.queue = "billing";
        spec.env = {{"V", std::move(value)}};
        return spec;
    }
    Error refusal(const JobSpec& spec) {
        const auto prepared = prepare(assignment(spec));
        return prepared ? error(Errc::corrupt, "it was prepared") : prepared.error();
    }
    // Every file of the state directory that has these bytes in it.
    std::vector<std::string> files_with(const std::string& bytes) const {
        std::vector<std::string> found;
        for (const auto& file : std::filesystem::recursive_directory_iterator(options_.directory)) {
            if (!file.is_regular_file()) continue;
            std::ifstream stream(file.path(), std::ios::binary);
            const std::string text{std::istreambuf_iterator<char>(stream), {}};
            if (text.find(bytes) != std::string::npos) found.push_back(file.path());
        }
        return found;
    }
};

TEST_F(HostSecretsTest, a_job_on_the_list_gets_the_value_without_its_last_line_end) {
    open();
    const auto key = begin(wanting("secret://db"));
    EXPECT_TRUE(end_of(key).end.succeeded);
    EXPECT_EQ(output(key), "hunter2");
}

TEST_F(HostSecretsTest, replaces_what_every_job_gets) {
    open();
    auto spec = wanting("x", "printf '%s' \"$LANG\"");
    spec.env = {{"LANG", "secret://db"}};
    const auto key = begin(spec);
    end_of(key);
    EXPECT_EQ(output(key), "hunter2");
}

TEST_F(HostSecretsTest, no_value_is_on_the_workers_disk_while_it_runs_or_afterwards) {
    open();
    auto spec = wanting("secret://db", "echo $$ >\"$OLDPWD_FILE\"; exec sleep 60");
    spec.env = {{"API_TOKEN", "hunter3"},
                {"OLDPWD_FILE", root_ + "/pid"},
                {"URL", "db://u:hunter4@h"},
                {"V", "secret://db"}};
    const auto key = begin(spec);
    pid_in("pid");
    EXPECT_EQ(files_with("hunter"), std::vector<std::string>{});
    EXPECT_FALSE(files_with("OLDPWD_FILE").empty());  // the search finds what is there
    processes_->kill(key, Cause::cut_off);
    end_of(key);
    processes_->forget(key);
    until("its directory is gone", [&] { return !std::filesystem::exists(directory(key)); });
    EXPECT_EQ(files_with("hunter"), std::vector<std::string>{});
}

TEST_F(HostSecretsTest, a_shim_that_waits_for_its_start_keeps_them_when_its_worker_dies) {
    open();
    const auto given = assignment(wanting("secret://db"), asking());
    ASSERT_TRUE(prepare(given));
    crash();
    std::filesystem::remove_all(options_.secrets);
    open();
    start(given.attempt);
    EXPECT_TRUE(end_of(given.attempt).end.succeeded);
    EXPECT_EQ(output(given.attempt), "hunter2");
}

TEST_F(HostSecretsTest, a_job_that_is_not_on_the_list_is_refused_for_good) {
    open();
    auto spec = wanting("secret://db");
    spec.queue = "default";
    const auto why = refusal(spec);
    EXPECT_EQ(why.code, Errc::invalid);
    EXPECT_NE(why.what.find("`db` is not for this job"), std::string::npos) << why.what;
}

TEST_F(HostSecretsTest, what_is_not_kept_safely_is_not_used) {
    open();
    const auto refused = [&](const std::string& sentence) {
        const auto why = refusal(wanting("secret://db"));
        EXPECT_EQ(why.code, Errc::overloaded) << why.what;
        EXPECT_NE(why.what.find(sentence), std::string::npos) << why.what;
        EXPECT_EQ(why.what.find("hunter"), std::string::npos) << why.what;
    };
    keep("db", "hunter2", 0640);
    refused("others may use it; fix: chmod 600");
    keep("db", "hunter2");
    keep("db.allow", "queue=billing", 0604);
    refused("others may use it; fix: chmod 600");
    keep("db.allow", "queue=billing\nwho knows");
    refused("line 2");
    std::filesystem::remove(path("db.allow"));
    refused("No such file");
    keep("db.allow", "queue=billing");
    keep("other", "hunter2");
    std::filesystem::remove(path("db"));
    std::filesystem::create_symlink("other", path("db"));
    refused("it is a symlink");
    std::filesystem::remove(path("db"));
    std::filesystem::create_directory(path("db"));
    ::chmod(path("db").c_str(), 0700);
    refused("no file of at most");
    std::filesystem::remove(path("db"));
    keep("db", std::string("a\0b", 3));
    refused("NUL");
    keep("db", std::string(65 * 1024, 'x'));
    refused("no file of at most");
    keep("db", "hunter2");
    ::chmod(options_.secrets.c_str(), 0770);
    refused("fix: chmod 700");
    std::filesystem::rename(options_.secrets, root_ + "/moved");
    std::filesystem::create_directory_symlink(root_ + "/moved", options_.secrets);
    refused("worker.secrets");
}

TEST_F(HostSecretsTest, what_belongs_to_another_user_is_not_used) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    open();
    ASSERT_EQ(::chown(path("db").c_str(), 12345, 12345), 0);
    const auto why = refusal(wanting("secret://db"));
    EXPECT_NE(why.what.find("belongs to uid 12345"), std::string::npos) << why.what;
}

TEST(OrderSecrets, are_names_on_disk_and_values_in_memory) {
    Order order{.attempt = {JobId{1}, {1}}, .directory = "/d", .argv = {"x"}};
    order.env = {{"A", "1"}, {"V", "old"}};
    order.secrets = {{"V", "hunter2"}, {"W", ""}};
    const auto text = to_text(order);
    EXPECT_EQ(text.find("hunter2"), std::string::npos);
    auto read = parse_order(text);
    ASSERT_TRUE(read);
    const auto memory = secrets_text(order);
    for (std::size_t size = 0; size < memory.size(); ++size) {
        auto copy = *read;
        EXPECT_TRUE(take_secrets(copy, memory.substr(0, size)).is(Errc::corrupt)) << size;
    }
    EXPECT_TRUE(take_secrets(*read, memory + "x").is(Errc::corrupt));
    ASSERT_TRUE(take_secrets(*read, memory));
    const std::vector<std::pair<std::string, std::string>> whole = {
        {"A", "1"}, {"V", "hunter2"}, {"W", ""}};
    EXPECT_EQ(read->env, whole);
}

}  // namespace
}  // namespace perdure
