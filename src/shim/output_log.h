// OutputLog: what a job prints, stdout and stderr in order of arrival, with a cap. The first half
// of the cap is appended to `output` as it comes. What follows goes round in `output.tail`; at the
// end the last half is appended, after a line that says how much was left out. So `output` only
// ever grows, and a reader that follows by offset never has to go back.
// A disk that takes no more loses output, never the job: what is lost is counted and said.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shim/format/fd.h"

namespace perdure {

class OutputLog {
public:
    OutputLog(int directory, std::uint64_t max) : directory_(directory), max_(max) {}

    void add(std::string_view bytes);
    void finish();
    // The end of what is in `output`: so many lines at most, whole ones if possible.
    std::string last_lines(std::size_t bytes_max, std::size_t lines_max) const;
    std::uint64_t printed() const { return printed_; }
    std::uint64_t lost() const { return lost_; }  // bytes that the disk did not take
    // What of all that was printed is not in `output`, those included. After finish().
    std::uint64_t cut() const { return left_out() + lost_; }

private:
    std::uint64_t head_max() const { return max_ / 2; }
    std::uint64_t tail_max() const { return max_ - head_max(); }
    std::uint64_t left_out() const { return tail_ > tail_max() ? tail_ - tail_max() : 0; }
    bool open_file(Fd& file, const char* name, int flags);
    void append(std::string_view bytes);
    void put_tail(std::string_view bytes);
    void put_tail_at(std::uint64_t at, std::string_view bytes);
    void append_tail(std::uint64_t from, std::uint64_t to);

    int directory_;
    std::uint64_t max_;
    Fd head_file_;
    Fd tail_file_;
    std::uint64_t printed_ = 0;
    std::uint64_t head_ = 0;  // bytes taken by the head
    std::uint64_t tail_ = 0;  // bytes that went to the tail, also those overwritten
    std::uint64_t lost_ = 0;
};

}  // namespace perdure
