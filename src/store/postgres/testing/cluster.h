// Cluster: a PostgreSQL of its own for tests, in a directory that goes with it: one unix socket, no
// network, nothing synced. PostgreSQL does not run as root: then it is run as `nobody`.
#pragma once

#include <libpq-fe.h>
#include <sys/types.h>

#include <memory>
#include <string>

namespace perdure::store::postgres {

using Held = std::unique_ptr<PGconn, void (*)(PGconn*)>;

class Cluster {
public:
    // The one of this program, started at its first use and stopped at its end.
    static Cluster& shared();

    Cluster();
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    // As PostgresOptions take it.
    std::string uri(const std::string& user = "perdure") const;
    // Of nobody else.
    std::string new_schema();
    // One statement of the superuser; what it answers first.
    std::string run(const std::string& sql);
    // The same, and its transaction stays open for as long as this is there.
    Held hold(const std::string& sql);
    void start();
    void stop(int signal);  // waits until it has ended
    // Ends the process of one backend as if the machine had.
    void kill_backend(pid_t backend);

private:
    std::string folder_;
    pid_t postmaster_ = 0;
    int schemas_ = 0;
};

}  // namespace perdure::store::postgres
