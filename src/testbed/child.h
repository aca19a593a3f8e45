// Child: a program that was started by this one. Its holder ends it: destroyed while it
// runs, it is killed and waited for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

class Child {
public:
    // Standard output and error go to the end of `log`; empty: nowhere.
    static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& words,
                                                const std::string& log);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Whether somebody holds it and will wait for it.
    static bool is_held(pid_t pid);

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    bool has_ended();
    // Blocks. The status as waitpid has it.
    int wait();

private:
    explicit Child(pid_t pid);

    pid_t pid_;
    bool ended_ = false;
    int status_ = 0;
};

// The program that runs, and one that lies beside it.
std::string own_program();
std::string program_beside(const std::string& name);

}  // namespace perdure
