#include "base/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <mutex>

namespace perdure {
namespace {

static_assert([] {
    for (std::size_t i = 0; i < fault_count; ++i)
        if (static_cast<std::size_t>(fault_points[i].fault) != i) return false;
    return true;
}());

struct Armed {
    ArmedFault what;
    std::uint32_t struck = 0;
};

struct Arsenal {
    std::mutex lock;
    std::vector<Armed> faults;
    std::string counts_file;
    std::uint64_t state = 0;
};

Arsenal& arsenal() {
    static Arsenal one;
    return one;
}

// A fair draw is enough: nobody's secrets depend on it.
std::uint32_t draw_percent(std::uint64_t& state) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state >> 33) % 100);
}

std::string content_of(const std::string& path) {
    std::string text(std::size_t{16} << 10, '\0');
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const auto got = ::read(file, text.data(), text.size());
    ::close(file);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

// Lines of "COUNT WORD". One that was armed in other words counts anew.
std::uint32_t struck_before(const std::string& text, const std::string& word) {
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = std::string_view(text).substr(at, end - at);
        const auto space = line.find(' ');
        std::uint32_t count = 0;
        std::from_chars(line.data(), line.data() + line.size(), count);
        if (space != std::string_view::npos && line.substr(space + 1) == word) return count;
        at = end + 1;
    }
    return 0;
}

// It survives the death of this process, which is all that is asked of it.
void write_down(const Arsenal& arsenal) {
    if (arsenal.counts_file.empty()) return;
    std::string text;
    for (const auto& fault : arsenal.faults)
        text += std::to_string(fault.struck) + " " + fault.what.text + "\n";
    const int file =
        ::open(arsenal.counts_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    (void)!::write(file, text.data(), text.size());
    ::close(file);
}

// A number that is followed by `mark`, taken off the front of the text.
std::optional<std::uint32_t> take_number(std::string_view& text, std::string_view mark) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (!text.starts_with(mark)) return std::nullopt;
    text.remove_prefix(mark.size());
    return number;
}

Result<ArmedFault> parse_fault(const std::string& word) {
    const auto equals = std::min(word.find('='), word.size());
    const auto fault = fault_named(std::string_view(word).substr(0, equals));
    if (!fault)
        return error(Errc::invalid, "there is no fault point `" + word.substr(0, equals) +
                                        "`; `perdure faults` lists them");
    ArmedFault armed{.fault = *fault, .text = word};
    if (equals == word.size()) return armed;
    auto rest = std::string_view(word).substr(equals + 1);
    const auto percent = take_number(rest, "%");
    const bool counts = percent && rest.starts_with('x');
    if (counts) rest.remove_prefix(1);
    const auto times = counts ? take_number(rest, "") : std::optional(ArmedFault::always);
    if (!percent || *percent > 100 || !times || !rest.empty())
        return error(Errc::invalid, "`" + word + "` is not understood; write it like " +
                                        std::string(to_string(*fault)) + "=100%x1");
    armed.percent = *percent;
    armed.times = *times;
    return armed;
}

}  // namespace

std::optional<Fault> fault_named(std::string_view name) {
    for (const auto& point : fault_points)
        if (point.name == name) return point.fault;
    return std::nullopt;
}

Result<std::vector<ArmedFault>> parse_faults(const std::vector<std::string>& words) {
    std::vector<ArmedFault> faults;
    for (const auto& word : words) {
        auto fault = parse_fault(word);
        if (!fault) return fault.error();
        faults.push_back(std::move(*fault));
    }
    return faults;
}

void arm_faults(std::vector<ArmedFault> faults, std::string counts_file, std::uint64_t seed) {
    auto& all = arsenal();
    const std::lock_guard guard(all.lock);
    all.counts_file = std::move(counts_file);
    all.state = seed;
    all.faults.clear();
    const auto before = all.counts_file.empty() ? std::string() : content_of(all.counts_file);
    for (auto& fault : faults) {
        const auto struck = struck_before(before, fault.text);
        all.faults.push_back({std::move(fault), struck});
    }
    fault_detail::armed = !all.faults.empty();
}

bool fault_detail::draws(Fault fault) {
    auto& all = arsenal();
    const std::lock_guard guard(all.lock);
    for (auto& each : all.faults) {
        if (each.what.fault != fault || each.struck >= each.what.times) continue;
        if (draw_percent(all.state) >= each.what.percent) continue;
        ++each.struck;
        write_down(all);
        return true;
    }
    return false;
}

void die_if(Fault fault) {
    if (!strikes(fault)) return;
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
}

}  // namespace perdure
