#include "store/postgres/testing/cluster.h"

#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "base/assert.h"

namespace perdure::store::postgres {
namespace {

constexpr const char* programs = "/usr/lib/postgresql/15/bin/";

struct Account {
    uid_t user = 0;
    gid_t group = 0;
};

// Who runs it: whoever runs the test, unless that is root.
Account account() {
    if (geteuid() != 0) return {geteuid(), getegid()};
    const auto* nobody = getpwnam("nobody");
    PERDURE_ASSERT(nobody != nullptr);
    return {nobody->pw_uid, nobody->pw_gid};
}

pid_t start_program(const std::string& log, std::vector<std::string> words) {
    words.front() = programs + words.front();
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const auto as = account();
    const auto child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    setsid();
    const bool is_other = as.user != geteuid();
    if (is_other && (setgid(as.group) != 0 || setuid(as.user) != 0)) _exit(126);
    // The change of account has taken it away.
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (!freopen(log.c_str(), "ae", stdout) || dup2(1, 2) < 0) _exit(126);
    execv(arguments.front(), arguments.data());
    _exit(127);
}

int wait_for(pid_t child) {
    int status = 0;
    PERDURE_ASSERT(waitpid(child, &status, 0) == child);
    return status;
}

std::string folder_for(const Account& as) {
    auto path = (std::filesystem::temp_directory_path() / "perdure-pg-XXXXXX").string();
    PERDURE_ASSERT(mkdtemp(path.data()) != nullptr);
    PERDURE_ASSERT(chown(path.c_str(), as.user, as.group) == 0);
    return path;
}

}  // namespace

Cluster& Cluster::shared() {
    static Cluster cluster;
    return cluster;
}

Cluster::Cluster() : folder_(folder_for(account())) {
    const auto made = wait_for(start_program(
        folder_ + "/log", {"initdb", "--no-sync", "--auth=trust", "--username=postgres",
                           "--encoding=UTF8", "--locale=C.UTF-8", "-D", folder_ + "/data"}));
    PERDURE_ASSERT(made == 0);
    start();
    run("CREATE ROLE perdure LOGIN");
    run("GRANT CREATE ON DATABASE postgres TO perdure");
}

Cluster::~Cluster() {
    stop(SIGQUIT);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void Cluster::start() {
    std::vector<std::string> words = {"postgres", "-D", folder_ + "/data", "-k", folder_};
    for (const auto* setting : {"listen_addresses=", "fsync=off", "full_page_writes=off",
                                "shared_buffers=64MB", "max_connections=60", "wal_level=minimal",
                                "max_wal_senders=0", "autovacuum=off", "max_wal_size=4GB"}) {
        words.emplace_back("-c");
        words.emplace_back(setting);
    }
    postmaster_ = start_program(folder_ + "/log", words);
    const auto all = uri("postgres");
    while (PQping(all.c_str()) != PQPING_OK) {
        PERDURE_ASSERT(waitpid(postmaster_, nullptr, WNOHANG) == 0);
        ::poll(nullptr, 0, 10);
    }
}

void Cluster::stop(int signal) {
    if (postmaster_ == 0) return;
    ::kill(postmaster_, signal);
    wait_for(postmaster_);
    postmaster_ = 0;
}

void Cluster::kill_backend(pid_t backend) { PERDURE_ASSERT(::kill(backend, SIGKILL) == 0); }

std::string Cluster::uri(const std::string& user) const {
    return "host=" + folder_ + " user=" + user + " dbname=postgres";
}

std::string Cluster::new_schema() { return "test_" + std::to_string(++schemas_); }

Held Cluster::hold(const std::string& sql) {
    Held connection(PQconnectdb(uri("postgres").c_str()), PQfinish);
    PERDURE_ASSERT(PQstatus(connection.get()) == CONNECTION_OK);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexec(connection.get(), sql.c_str()), PQclear);
    PERDURE_ASSERT(PQresultStatus(result.get()) == PGRES_COMMAND_OK);
    return connection;
}

std::string Cluster::run(const std::string& sql) {
    const Held connection(PQconnectdb(uri("postgres").c_str()), PQfinish);
    PERDURE_ASSERT(PQstatus(connection.get()) == CONNECTION_OK);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexec(connection.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    PERDURE_ASSERT(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

}  // namespace perdure::store::postgres
