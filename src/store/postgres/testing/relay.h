// Relay: a unix socket in front of a PostgreSQL, served by a process of its own. It passes
// everything on until it is told to lose the answer to the next COMMIT: then it waits for that
// answer, keeps it and hangs up on both.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>

namespace perdure::store::postgres {

class Relay {
public:
    // Between a folder of its own and the socket in another one.
    explicit Relay(const std::string& to_folder);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    const std::string& folder() const { return folder_; }
    void lose_next_commit() { told_->loses_commit = true; }
    bool has_lost_one() const { return told_->has_lost; }

    struct Told {  // shared by both processes
        std::atomic<bool> loses_commit = false;
        std::atomic<bool> has_lost = false;
    };

private:
    std::string folder_;
    Told* told_ = nullptr;
    pid_t process_ = 0;
};

}  // namespace perdure::store::postgres
