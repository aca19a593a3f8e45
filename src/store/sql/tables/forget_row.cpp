#include "store/sql/tables/forget_row.h"

#include "store/engine/rows/bytes.h"

namespace perdure::store::sql {

std::vector<JobId> decode_forget_note(JobId first, std::string_view others) {
    std::vector<JobId> jobs = {first};
    ByteReader bytes(others);
    while (!bytes.is_at_end()) jobs.push_back(JobId{first.value + bytes.number()});
    return jobs;
}

std::string encode_forget_note(const JobId* jobs, std::size_t count) {
    ByteWriter others;
    for (std::size_t i = 1; i < count; ++i) others.number(jobs[i].value - jobs[0].value);
    return others.take();
}

std::vector<JobId> jobs_of_note(const Found& row) {
    const JobId first{row.bits(1)};
    try {
        return decode_forget_note(first, row.bytes(2));
    } catch (const Failure&) {
        return {first};
    }
}

}  // namespace perdure::store::sql
