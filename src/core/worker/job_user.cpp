#include "core/worker/job_user.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr std::uint32_t search_of_owner = 0100;
constexpr std::uint32_t search_of_group = 0010;
constexpr std::uint32_t search_of_others = 0001;

bool may_pass(const FolderOnTheWay& folder, const Credentials& who) {
    if (who.uid == 0) return true;
    if (folder.uid == who.uid) return (folder.mode & search_of_owner) != 0;
    const bool is_member = folder.gid == who.gid || std::find(who.groups.begin(), who.groups.end(),
                                                              folder.gid) != who.groups.end();
    return (folder.mode & (is_member ? search_of_group : search_of_others)) != 0;
}

}  // namespace

JobUserDecision decide_job_user(const JobUserFacts& f) {
    using Kind = JobUserDecision::Kind;
    if (f.wanted == f.own) return {Kind::as_the_worker, {}};
    // Who may become root is root already, or should not be through a setting.
    if (f.wanted == 0) return {Kind::refuse, "jobs run as root only under a worker that is root"};
    std::string missing;
    const auto need = [&](bool has, std::string_view name) {
        if (has) return;
        missing += missing.empty() ? "" : ", ";
        missing += name;
    };
    need(f.may_set_uid, "CAP_SETUID");
    need(f.may_set_gid, "CAP_SETGID");
    need(f.may_kill, "CAP_KILL");
    need(f.may_chown, "CAP_CHOWN");
    if (missing.empty()) return {Kind::as_another, {}};
    return {Kind::refuse,
            "to run jobs as another user the worker must be root or have the "
            "capabilities that it lacks: " +
                missing};
}

JobUserDecision decide_submitter(const SubmitterFacts& f) {
    using Kind = JobUserDecision::Kind;
    if (!f.uid)
        return {Kind::refuse,
                "jobs run as whoever submitted them here, and this one was submitted by nobody "
                "with an account"};
    const auto name = "uid " + std::to_string(*f.uid);
    if (*f.uid == 0 && !f.allows_root)
        return {Kind::refuse,
                "it was submitted by root, and jobs of root run here only with "
                "worker.root_submitters = true"};
    if (!f.is_known)
        return {Kind::refuse, "it was submitted by " + name + ", which no account here has"};
    return {*f.uid == f.own ? Kind::as_the_worker : Kind::as_another, {}};
}

const FolderOnTheWay* find_barrier(const std::vector<FolderOnTheWay>& way, const Credentials& who) {
    const auto barrier = std::find_if(
        way.begin(), way.end(), [&](const FolderOnTheWay& each) { return !may_pass(each, who); });
    return barrier == way.end() ? nullptr : &*barrier;
}

}  // namespace perdure
