// JobSocketServer: the listening side of docs/protocol/job-socket.md. It reads at most one request
// of a connection at a time and nothing more of it before that one is answered, so that a job that
// floods its socket waits for itself. Every call does a bounded amount of work.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shim/format/fd.h"
#include "shim/job_request.h"

namespace perdure {

// Who understands the requests. Empty: the answer comes later, through JobSocketServer::answer().
class JobRequests {
public:
    virtual ~JobRequests() = default;
    virtual std::optional<std::string> on_request(std::uint64_t connection, JobRequest request) = 0;
    virtual void on_hang_up(std::uint64_t connection) = 0;
};

class JobSocketServer {
public:
    static constexpr std::size_t connections_max = 16;

    // Binds `name` in the current directory; answers an errno.
    int open(const char* name);
    void close();
    void watch(std::vector<pollfd>& into) const;
    void serve(const pollfd& ready, JobRequests& requests);
    void answer(std::uint64_t connection, std::string_view line);

private:
    struct Connection {
        std::uint64_t number = 0;
        Fd fd;
        std::string in;
        std::string out;
        bool waits = false;    // for an answer
        bool more = false;     // `in` may hold another request
        bool closing = false;  // once `out` is written
        bool gone = false;
    };

    void accept_one();
    void read_from(Connection& connection);
    void understand(Connection& connection, JobRequests& requests);
    void write_to(Connection& connection);
    void drop_gone(JobRequests& requests);

    Fd listener_;
    std::uint64_t last_number_ = 0;
    std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace perdure
