#include "core/worker/folder.h"

#include <algorithm>

namespace perdure {

Folder decide_folder(const JobHost& caller, const std::optional<std::vector<JobHost>>& workers) {
    if (!workers) return Folder::fresh_not_known;
    if (workers->empty()) return Folder::fresh_no_worker;
    const auto any = [&](auto condition) {
        return std::any_of(workers->begin(), workers->end(), condition);
    };
    // What is surely different is the better answer, so it comes first.
    if (any([&](const JobHost& host) {
            return !caller.files.empty() && !host.files.empty() && host.files != caller.files;
        }))
        return Folder::fresh_elsewhere;
    if (any([&](const JobHost& host) { return host.uid && host.uid != caller.uid; }))
        return Folder::fresh_another_user;
    if (caller.files.empty() || !caller.uid ||
        any([](const JobHost& host) { return host.files.empty() || !host.uid; }))
        return Folder::fresh_not_known;
    return Folder::callers;
}

std::string_view why_fresh(Folder folder) {
    switch (folder) {
        case Folder::callers: return "";
        case Folder::fresh_no_worker: return "no worker is connected that takes it";
        case Folder::fresh_another_user: return "jobs run as another user";
        case Folder::fresh_elsewhere: return "it may run on another machine";
        case Folder::fresh_not_known: return "where it will run is not known";
    }
    return "";
}

}  // namespace perdure
