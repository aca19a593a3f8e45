// The jobs that the bench submits, as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perdure::bench {

// Runs inside the worker and ends at once.
std::string noop_job(std::string_view queue);
// A supervised command.
std::string command_job(std::string_view queue);
std::string keyed_job(std::string_view queue, std::string_view key);
// The body of a submit of `count` jobs that all ask for the same.
std::string batch_of(const std::string& job, std::size_t count);

// The body of a submit of several jobs, each as it is.
std::string batch_of(const std::vector<std::string>& jobs);

}  // namespace perdure::bench
