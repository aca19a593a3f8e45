// A row of `forget`: when its retention is over, its first job, and how far each other one is above
// that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "store/sql/statement.h"

namespace perdure::store::sql {

inline constexpr std::size_t jobs_in_note_max = 500;

std::vector<JobId> decode_forget_note(JobId first, std::string_view others);
std::string encode_forget_note(const JobId* jobs, std::size_t count);
// Of columns forget_at, job, others. One that cannot be understood must not keep everybody else
// from being removed: then it is the first alone.
std::vector<JobId> jobs_of_note(const Found& row);

}  // namespace perdure::store::sql
