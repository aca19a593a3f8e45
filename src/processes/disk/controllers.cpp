#include "processes/disk/controllers.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "processes/disk/posix.h"
#include "shim/format/fd.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

constexpr std::string_view leaf = "/perdure-main";
constexpr std::uint64_t period_us = 100'000;

// Zero, or errno.
int write_to(const std::string& path, std::string_view text) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file) return errno;
    return ::write(file.get(), text.data(), text.size()) < 0 ? errno : 0;
}

bool make(const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

std::string_view take(std::string_view& rest, char separator) {
    const auto part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
}

bool has_word(std::string_view list, std::string_view word, char separator) {
    while (!list.empty())
        if (take(list, separator) == word) return true;
    return false;
}

struct Mount {
    std::string_view root, point, type, options;
};

// "36 25 0:30 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw"
std::optional<Mount> mount_in(std::string_view line) {
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) return std::nullopt;
    auto front = line.substr(0, dash);
    auto back = line.substr(dash + 3);
    Mount mount;
    for (int skipped = 0; skipped < 3; ++skipped) take(front, ' ');
    mount.root = take(front, ' ');
    mount.point = take(front, ' ');
    mount.type = take(back, ' ');
    take(back, ' ');
    mount.options = take(back, ' ');
    return mount;
}

// Our group's path below the mount point; empty if the mount does not show it.
std::optional<std::string> below(const Mount& mount, std::string_view group) {
    if (mount.root != "/") {
        if (!group.starts_with(mount.root)) return std::nullopt;
        group.remove_prefix(mount.root.size());
    }
    return std::string(mount.point) + (group == "/" ? std::string() : std::string(group));
}

// By the names of their controllers, as in "4:memory:/some/group"; v2 has an empty name.
std::map<std::string_view, std::string_view> groups_in(std::string_view own) {
    std::map<std::string_view, std::string_view> groups;
    while (!own.empty()) {
        auto line = take(own, '\n');
        take(line, ':');
        auto controllers = take(line, ':');
        if (controllers.empty()) groups[""] = line;
        while (!controllers.empty()) groups[take(controllers, ',')] = line;
    }
    return groups;
}

// A group with processes in it can hand no controller down. If all of them are ours they move into
// a group below, as a service with a cgroup of its own may do.
bool step_aside(const std::string& group) {
    const auto all = text_of_file(group + "/cgroup.procs");
    std::string_view rest(all);
    std::vector<std::string> pids;
    while (!rest.empty()) {
        const auto pid = std::string(take(rest, '\n'));
        char path[4096];
        const auto size = ::readlink(("/proc/" + pid + "/exe").c_str(), path, sizeof path);
        if (size <= 0) return false;
        const std::string_view program(path, static_cast<std::size_t>(size));
        if (!program.ends_with("/perdure") && !program.ends_with("/perdure-shim")) return false;
        pids.push_back(pid);
    }
    const auto aside = group + std::string(leaf);
    if (!make(aside)) return false;
    for (const auto& pid : pids) write_to(aside + "/cgroup.procs", pid);
    return true;
}

bool hand_down(const std::string& group, std::string_view controller) {
    const auto order = "+" + std::string(controller);
    const auto switches = group + "/cgroup.subtree_control";
    int failed = write_to(switches, order);
    if (failed == EBUSY && step_aside(group)) failed = write_to(switches, order);
    return failed == 0;
}

bool offers(const std::string& group, std::string_view controller) {
    auto list = text_of_file(group + "/cgroup.controllers");
    std::replace(list.begin(), list.end(), '\n', ' ');
    return has_word(list, controller, ' ');
}

struct Setting {
    std::string_view file;
    std::string text;
    bool needed = true;
};

std::vector<Setting> settings_for(Controller controller, bool v2, std::uint64_t amount) {
    const auto number = std::to_string(amount);
    const auto quota = std::to_string(amount * (period_us / 100));
    const auto period = std::to_string(period_us);
    switch (controller) {
        case Controller::memory:
            if (v2)
                return {{"memory.max", number},
                        {"memory.swap.max", "0", false},
                        {"memory.oom.group", "1", false}};
            return {{"memory.limit_in_bytes", number},
                    {"memory.memsw.limit_in_bytes", number, false}};
        case Controller::cpu:
            if (v2) return {{"cpu.max", quota + " " + period}};
            return {{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}};
        case Controller::pids: return {{"pids.max", number}};
    }
    return {};
}

std::optional<std::uint64_t> amount_of(const Resources& asked, Controller controller) {
    switch (controller) {
        case Controller::memory: return asked.memory;
        case Controller::cpu: return asked.cpu_percent;
        case Controller::pids: return asked.processes;
    }
    return std::nullopt;
}

}  // namespace

Hierarchies hierarchies_in(std::string_view mountinfo, std::string_view own) {
    Hierarchies found;
    const auto groups = groups_in(own);
    while (!mountinfo.empty()) {
        const auto mount = mount_in(take(mountinfo, '\n'));
        if (!mount) continue;
        if (mount->type == "cgroup2" && groups.contains("")) {
            found.v2 = below(*mount, groups.at("")).value_or("");
            if (found.v2.ends_with(leaf)) found.v2.resize(found.v2.size() - leaf.size());
        }
        if (mount->type != "cgroup") continue;
        for (std::size_t i = 0; i < controller_count; ++i) {
            const auto name = controller_names[i];
            if (!has_word(mount->options, name, ',') || !groups.contains(name)) continue;
            found.v1[i] = below(*mount, groups.at(name)).value_or("");
        }
    }
    found.v2_is_alone = !found.v2.empty() && std::all_of(found.v1.begin(), found.v1.end(),
                                                         [](auto& path) { return path.empty(); });
    return found;
}

Hierarchies hierarchies_here() {
    return hierarchies_in(text_of_file("/proc/self/mountinfo"), text_of_file("/proc/self/cgroup"));
}

void Controllers::detect(const Hierarchies& here, const std::string& slots,
                         const std::string& name) {
    for (std::size_t i = 0; i < controller_count; ++i) {
        auto& place = places_[i];
        const auto& older = here.v1[i];
        if (!older.empty() && ::access(older.c_str(), W_OK) == 0)
            place.base = older + "/perdure-" + name;
        else if (!slots.empty() && offers(here.v2, controller_names[i]))
            place.v2 =
                hand_down(here.v2, controller_names[i]) && hand_down(slots, controller_names[i]);
    }
}

Enforceable Controllers::enforceable() const {
    return {.memory = at(Controller::memory).usable(),
            .cpu = at(Controller::cpu).usable(),
            .processes = at(Controller::pids).usable()};
}

std::string Controllers::folder(Controller controller, const std::string& slot,
                                const std::string& attempt, Limited& into) const {
    const auto& place = at(controller);
    if (place.v2) return slot;
    if (place.base.empty()) return {};
    const auto group = place.base + "/" + attempt;
    if (!make(place.base) || !make(group)) return {};
    if (std::find(into.joins.begin(), into.joins.end(), group) == into.joins.end())
        into.joins.push_back(group);
    return group;
}

Result<void> Controllers::apply(const Resources& asked, const std::string& slot,
                                const std::string& attempt, Limited& into) const {
    for (std::size_t i = 0; i < controller_count; ++i) {
        const auto controller = static_cast<Controller>(i);
        const auto amount = amount_of(asked, controller);
        if (!amount) continue;
        const auto where = folder(controller, slot, attempt, into);
        if (where.empty()) return error(Errc::overloaded, "no cgroup could be made for its limits");
        for (const auto& setting : settings_for(controller, at(controller).v2, *amount)) {
            const auto path = where + "/" + std::string(setting.file);
            const int failed = write_to(path, setting.text);
            if (failed && (setting.needed || failed != ENOENT))
                return error(Errc::overloaded, path + " cannot be set to " + setting.text + ": " +
                                                   ::strerror(failed));
        }
        if (controller == Controller::memory && !at(controller).v2)
            into.oom_counter = where + "/memory.oom_control";
    }
    return {};
}

Result<Limited> Controllers::limit(const Resources& asked, const std::string& slot,
                                   const std::string& attempt) {
    Limited limited;
    if (at(Controller::memory).v2 && !slot.empty()) limited.oom_counter = slot + "/memory.events";
    const auto applied = apply(asked, slot, attempt, limited);
    if (applied) return limited;
    release(slot, attempt);
    return applied.error();
}

void Controllers::release(const std::string& slot, const std::string& attempt) {
    for (std::size_t i = 0; i < controller_count; ++i) {
        const auto& place = places_[i];
        if (!place.base.empty()) ::rmdir((place.base + "/" + attempt).c_str());
        if (!place.v2 || slot.empty()) continue;
        for (const auto* file : {"memory.max", "memory.swap.max", "cpu.max", "pids.max"})
            if (std::string_view(file).starts_with(controller_names[i]) &&
                file_exists(slot + "/" + file))
                write_to(slot + "/" + file, "max");
    }
}

void Controllers::clear(const std::set<std::string>& alive) {
    for (const auto& place : places_) {
        if (place.base.empty()) continue;
        const OpenDirectory entries(::opendir(place.base.c_str()));
        if (!entries) continue;
        while (const auto* entry = ::readdir(entries.get())) {
            const std::string name = entry->d_name;
            const bool is_group = entry->d_type == DT_DIR && name.front() != '.';
            if (is_group && !alive.contains(name)) ::rmdir((place.base + "/" + name).c_str());
        }
        if (alive.empty()) ::rmdir(place.base.c_str());
    }
}

std::string to_text(const Enforceable& enforceable) {
    const auto names = names_of(enforceable);
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace perdure
