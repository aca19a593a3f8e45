// Screen: the drill as somebody sees it. Every row gets its line when it is done; on a terminal,
// what is going on just now stands below and is written over. Any thread may tell.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "drill/drill_options.h"
#include "drill/verdict.h"

namespace perdure::drill {

class Screen {
public:
    explicit Screen(const Options& options) : options_(options) {}

    void open(std::size_t rows, const std::string& where);
    void is_preparing(Lane lane, const std::string& what);
    void run_ended(const Row& row, std::size_t done, std::size_t of);
    void row_ended(const Verdict& verdict);
    void lane_ended(Lane lane);
    void close(const std::string& summary);

private:
    void erase_passing();
    void draw_passing();

    const Options& options_;
    std::mutex lock_;
    std::map<Lane, std::string> passing_;
    std::size_t drawn_ = 0;  // lines that are written over
};

}  // namespace perdure::drill
