#include "bench/scale/process_usage.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace perdure::bench {
namespace {

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::uint64_t leading_number(std::string_view text) {
    const auto begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) return 0;
    std::uint64_t number = 0;
    std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return number;
}

}  // namespace

ProcessUsage ProcessUsage::operator-(const ProcessUsage& earlier) const {
    return {processor_ns - earlier.processor_ns, wake_ups - earlier.wake_ups,
            written_bytes - earlier.written_bytes};
}

ProcessUsage& ProcessUsage::operator+=(const ProcessUsage& other) {
    processor_ns += other.processor_ns;
    wake_ups += other.wake_ups;
    written_bytes += other.written_bytes;
    return *this;
}

std::uint64_t processor_ns_in(std::string_view schedstat) { return leading_number(schedstat); }

std::uint64_t number_in(std::string_view text, std::string_view name) {
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        const auto line = text.substr(begin, end - begin);
        begin = end + 1;
        if (!line.starts_with(name) || !line.substr(name.size()).starts_with(':')) continue;
        return leading_number(line.substr(name.size()));
    }
    return 0;
}

ProcessUsage usage_of(const std::vector<pid_t>& processes) {
    ProcessUsage all;
    for (const auto pid : processes) {
        const auto folder = fmt::format("/proc/{}", pid);
        std::error_code failed;
        for (const auto& task : std::filesystem::directory_iterator(folder + "/task", failed)) {
            const auto path = task.path().string();
            all +=
                {.processor_ns = processor_ns_in(text_of_file(path + "/schedstat")),
                 .wake_ups = number_in(text_of_file(path + "/status"), "voluntary_ctxt_switches")};
        }
        all += {.written_bytes = number_in(text_of_file(folder + "/io"), "write_bytes")};
    }
    return all;
}

}  // namespace perdure::bench
