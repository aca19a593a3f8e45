// Relay: a unix socket in front of a PostgreSQL. It passes everything on, until it is told to lose
// the answer to the next COMMIT: then it waits for that answer, keeps it and hangs up on both.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace perdure::store::postgres {

class Relay {
public:
    // Between a folder of its own and the socket in another one.
    explicit Relay(std::string to_folder);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    const std::string& folder() const { return folder_; }
    void lose_next_commit() { loses_commit_ = true; }
    bool has_lost_one() const { return has_lost_; }

private:
    void serve();
    void pass_on(int client);

    std::string folder_;
    std::string to_;
    int listener_ = -1;
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> loses_commit_ = false;
    std::atomic<bool> has_lost_ = false;
    std::thread thread_;
};

}  // namespace perdure::store::postgres
