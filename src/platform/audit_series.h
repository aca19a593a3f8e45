// AuditSeries: one kind of lines of the audit log, in files that are only appended to and have
// their name for good: `acts-2026-11-19-000000000042.jsonl` has lines of that day, from number 42
// on. A line is a JSON object that begins with its number: {"seq":42,... Numbers rise, whatever the
// clock does.
//   What is older than `age` goes, and so does the oldest where there is too much: that is said.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "shim/format/fd.h"

namespace perdure {

struct AuditFileName {
    std::uint64_t first = 0;  // number of its first line
    WallTime day;             // when it was begun
    std::string text;
};
// Files of a series, oldest first.
std::deque<AuditFileName> audit_files(int directory, std::string_view series);
// The number of a line; empty: it is none.
std::optional<std::uint64_t> audit_number(std::string_view line);

struct AuditBounds {
    std::uint64_t file_max = std::uint64_t{4} << 20;
    std::uint64_t bytes_max = std::uint64_t{512} << 20;  // at least two files
    Duration age = days(90);
};

class AuditSeries {
public:
    // The directory stays open as long as this lives. A torn end of the newest file is mended.
    AuditSeries(int directory, std::string name, AuditBounds bounds);

    // The greatest number that was ever used, or more.
    std::uint64_t newest() const { return newest_; }
    std::uint64_t bytes() const;

    // All lines or, with an errno, none of them.
    int append(std::string_view lines, std::uint64_t first, WallTime now);
    // Begins no file without it, removes what there is too much of; how many went before their
    // time.
    std::uint64_t remove_old(WallTime now);
    // To the disk.
    void sync();

private:
    struct File {
        AuditFileName name;
        std::uint64_t bytes = 0;
    };
    int begin_file(std::uint64_t first, WallTime now);
    void open_newest();

    int directory_;
    std::string name_;
    AuditBounds bounds_;
    std::deque<File> files_;
    Fd file_;  // the newest; none: the next line begins one
    std::uint64_t newest_ = 0;
};

}  // namespace perdure
