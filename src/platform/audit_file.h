// AuditFile: who did what, one JSON object a line in `audit.jsonl` in the data directory. A full
// file becomes audit.1.jsonl, that one audit.2.jsonl, and so on; the last one goes, and so do those
// whose newest line is older than 90 days. Refusals, which strangers cause, have a budget of their
// own, so that nobody can push out what matters.
#pragma once

#include <string>

#include "ports/access.h"
#include "ports/clock.h"
#include "shim/format/fd.h"

namespace perdure {

struct AuditBounds {
    std::size_t file_max = std::size_t{16} << 20;
    int files = 8;
    Duration age = days(90);
    unsigned refusals_per_second = 10;
};

class AuditFile final : public AuditLog {
public:
    AuditFile(std::string directory, AuditBounds bounds = {});

    void append(const AuditRecord& record) override;
    std::vector<std::string> newest(std::size_t count, std::string_view word) override;

private:
    std::string path(int number) const;
    void open_current();
    void rotate(WallTime now);
    bool has_budget(const AuditRecord& record);
    std::string line_of(const AuditRecord& record);

    std::string directory_;
    AuditBounds bounds_;
    Fd file_;
    std::size_t size_ = 0;
    std::int64_t second_ = 0;     // of the last refusal
    unsigned refusals_ = 0;       // in that second
    std::uint64_t left_out_ = 0;  // refusals, since the last line
};

}  // namespace perdure
