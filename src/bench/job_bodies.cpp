#include "bench/job_bodies.h"

#include <fmt/format.h>

namespace perdure::bench {

std::string noop_job(std::string_view queue) {
    return fmt::format(R"({{"kind":"perdure.noop","queue":"{}"}})", queue);
}

std::string command_job(std::string_view queue) {
    return fmt::format(R"({{"argv":["true"],"queue":"{}"}})", queue);
}

std::string keyed_job(std::string_view queue, std::string_view key) {
    return fmt::format(R"({{"kind":"perdure.noop","queue":"{}","key":"{}"}})", queue, key);
}

std::string batch_of(const std::string& job, std::size_t count) {
    return batch_of(std::vector<std::string>(count, job));
}

std::string batch_of(const std::vector<std::string>& jobs) {
    std::string body = R"({"jobs":[)";
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (i > 0) body += ',';
        body += jobs[i];
    }
    return body + "]}";
}

}  // namespace perdure::bench
