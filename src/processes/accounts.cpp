#include "processes/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include "processes/disk/posix.h"

namespace perdure {
namespace {

constexpr std::size_t entry_max = std::size_t{1} << 20;
constexpr int groups_max = 65'536;  // the kernel's limit
constexpr unsigned cap_chown = 0;
constexpr unsigned cap_kill = 5;
constexpr unsigned cap_setgid = 6;
constexpr unsigned cap_setuid = 7;

std::optional<std::uint32_t> number_of(const std::string& text) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
        return std::nullopt;
    // The last number means "leave it as it is" to the kernel.
    if (number == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return number;
}

std::vector<std::uint32_t> groups_of(const char* name, gid_t gid) {
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    while (::getgrouplist(name, gid, groups.data(), &count) < 0 && count <= groups_max &&
           count > static_cast<int>(groups.size()))
        groups.resize(static_cast<std::size_t>(count));
    groups.resize(std::min(static_cast<std::size_t>(std::max(count, 0)), groups.size()));
    return {groups.begin(), groups.end()};
}

Account account_of(const passwd& entry) {
    Account account{.name = entry.pw_name, .shell = entry.pw_shell};
    account.credentials = {
        .uid = entry.pw_uid, .gid = entry.pw_gid, .groups = groups_of(entry.pw_name, entry.pw_gid)};
    if (*entry.pw_dir == '/') account.home = entry.pw_dir;
    return account;
}

// `ask` fills an entry with the memory that it is given.
template <class Ask>
Result<std::optional<Account>> look_up(const std::string& named, Ask ask) {
    passwd entry{};
    passwd* found = nullptr;
    for (std::vector<char> memory(16 * 1024);; memory.resize(memory.size() * 2)) {
        const int failed = ask(entry, memory, found);
        if (failed == ERANGE && memory.size() < entry_max) continue;
        if (failed && failed != ENOENT && failed != ESRCH) return os_error(named, failed);
        if (!found) return std::optional<Account>{};
        return std::optional(account_of(entry));
    }
}

Result<std::optional<Account>> account_with(uid_t uid) {
    return look_up("uid " + std::to_string(uid),
                   [uid](passwd& entry, std::vector<char>& memory, passwd*& found) {
                       return ::getpwuid_r(uid, &entry, memory.data(), memory.size(), &found);
                   });
}

std::uint64_t effective_capabilities() {
    const auto text = text_of_file("/proc/self/status");
    constexpr std::string_view label = "CapEff:\t";
    const auto at = text.find(label);
    if (at == std::string::npos) return 0;
    return std::strtoull(text.c_str() + at + label.size(), nullptr, 16);
}

JobUserFacts facts_about(std::uint32_t wanted) {
    const auto capabilities = effective_capabilities();
    const auto has = [&](unsigned bit) { return ((capabilities >> bit) & 1) != 0; };
    return {.own = ::geteuid(),
            .wanted = wanted,
            .may_set_uid = has(cap_setuid),
            .may_set_gid = has(cap_setgid),
            .may_kill = has(cap_kill),
            .may_chown = has(cap_chown)};
}

}  // namespace

Result<Account> find_account(const std::string& name) {
    if (const auto uid = number_of(name)) {
        auto found = account_with(*uid);
        if (!found) return found.error();
        if (*found) return std::move(**found);
        return Account{.credentials = {.uid = *uid, .gid = *uid}};
    }
    auto found =
        look_up("user `" + name + "`", [&](passwd& entry, std::vector<char>& memory, passwd*& to) {
            return ::getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &to);
        });
    if (!found) return found.error();
    if (*found) return std::move(**found);
    return error(Errc::invalid, "there is no user `" + name + "` on this host");
}

Account own_account() {
    auto found = account_with(::geteuid());
    if (found && *found) return std::move(**found);
    return Account{.credentials = {.uid = ::geteuid(), .gid = ::getegid()}};
}

Result<std::optional<Account>> find_job_user(const std::string& wanted) {
    if (wanted.empty()) return std::optional<Account>{};
    auto account = find_account(wanted);
    if (!account) return error(account.error().code, "worker.user: " + account.error().what);
    const auto decision = decide_job_user(facts_about(account->credentials.uid));
    switch (decision.kind) {
        case JobUserDecision::Kind::as_the_worker: return std::optional<Account>{};
        case JobUserDecision::Kind::as_another: return std::optional(std::move(*account));
        case JobUserDecision::Kind::refuse: break;
    }
    return error(Errc::invalid, "worker.user: " + decision.why);
}

Result<void> check_may_become_submitters() {
    // Anybody who is neither root nor the worker.
    const auto somebody = ::geteuid() + 1;
    const auto decision = decide_job_user(facts_about(somebody));
    if (decision.kind == JobUserDecision::Kind::as_another) return {};
    return error(Errc::invalid, "worker.user: " + decision.why);
}

Result<std::optional<Account>> find_submitter(const Who& submitter, bool allows_root) {
    Result<std::optional<Account>> found(std::nullopt);
    if (submitter.uid) found = account_with(*submitter.uid);
    if (!found) return error(Errc::overloaded, found.error().what);
    const auto decision = decide_submitter({.uid = submitter.uid,
                                            .is_known = found->has_value(),
                                            .own = ::geteuid(),
                                            .allows_root = allows_root});
    switch (decision.kind) {
        case JobUserDecision::Kind::as_the_worker: return std::optional<Account>{};
        case JobUserDecision::Kind::as_another: return found;
        case JobUserDecision::Kind::refuse: break;
    }
    return error(Errc::overloaded, decision.why);
}

Result<void> check_way(const std::string& folder, const Account& account) {
    std::vector<FolderOnTheWay> way;
    std::error_code failed;
    const auto whole = std::filesystem::canonical(folder, failed);
    if (failed) return error(Errc::invalid, folder + ": " + failed.message());
    std::filesystem::path so_far;
    for (const auto& part : whole) {
        so_far /= part;
        struct stat about {};
        if (::stat(so_far.c_str(), &about) != 0) return os_error(so_far.string(), errno);
        way.push_back({so_far.string(), about.st_uid, about.st_gid, about.st_mode & 07777U});
    }
    const auto* barrier = find_barrier(way, account.credentials);
    if (!barrier) return {};
    return error(Errc::invalid,
                 "worker.user: jobs run as uid " + std::to_string(account.credentials.uid) +
                     ", which may not pass " + barrier->path + " on the way to " + folder +
                     "; set worker.state to a directory that everybody can reach, such as "
                     "/var/lib/perdure-worker, or: chmod o+x " +
                     barrier->path);
}

}  // namespace perdure
