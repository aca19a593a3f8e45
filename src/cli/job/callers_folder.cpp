#include "cli/job/callers_folder.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <utility>

#include "cli/answer.h"
#include "core/worker/folder.h"

namespace perdure::cli {
namespace {

constexpr std::string_view usual_name = "default";  // queue and tenant of a job that names none

std::vector<std::string> texts_in(const boost::json::value& from, std::string_view name) {
    std::vector<std::string> words;
    for (const auto& word : list_of(from, name))
        if (const auto* text = word.if_string()) words.emplace_back(text->data(), text->size());
    return words;
}

// One that runs each job as whoever submitted it runs ours as us: the server knows our account.
Offer offer_of(const boost::json::value& worker, const std::string& tenant, const JobHost& caller) {
    Offer offer{
        .tenant = tenant, .queues = texts_in(worker, "queues"), .kinds = texts_in(worker, "kinds")};
    const auto& host = member(worker, "host");
    if (has(host, "uid")) offer.host.uid = static_cast<std::uint32_t>(number_of(host, "uid"));
    if (text_of(worker, "user") == "submitter") offer.host.uid = caller.uid;
    offer.host.files = text_of(host, "files");
    return offer;
}

// Its folder may be gone before its child runs, and it may not be allowed to ask for workers.
bool is_inside_a_job(const Context& context) {
    const auto& environment = context.system.environment();
    const auto found = environment.find("PERDURE_JOB");
    return found != environment.end() && !found->second.empty();
}

std::string named(const boost::json::object& job, const boost::json::object* others,
                  std::string_view field) {
    for (const auto* from : {&job, others}) {
        if (!from) continue;
        const auto* found = from->if_contains({field.data(), field.size()});
        if (const auto* text = found ? found->if_string() : nullptr)
            return {text->data(), text->size()};
    }
    return std::string(usual_name);
}

}  // namespace

// A page of them: where there are more, some of them are not known here.
Result<CallersFolder::Offers> CallersFolder::offers_for(const std::string& tenant) {
    const auto [at, is_new] = known_.try_emplace(tenant);
    if (!is_new) return at->second;
    const auto answer =
        context_.api.request({.target = "/v1/workers?limit=1000&tenant=" + escaped(tenant)});
    if (!answer) return answer.error();
    if (!answer->ok() || has(answer->body, "next")) return at->second;
    auto& offers = at->second.emplace();
    for (const auto& worker : list_of(answer->body, "workers"))
        if (!truth_of(worker, "draining"))
            offers.push_back(offer_of(worker, tenant, context_.system.here()));
    return at->second;
}

Result<void> CallersFolder::give(boost::json::object& job, const boost::json::object* others) {
    if (job.contains("cwd") || !job.contains("argv") || is_inside_a_job(context_)) return {};
    const Shape shape{.tenant = named(job, others, "tenant"),
                      .queue = named(job, others, "queue"),
                      .kind = "",
                      .share = ""};
    const auto offers = offers_for(shape.tenant);
    if (!offers) return offers.error();
    std::optional<std::vector<JobHost>> hosts;
    if (*offers) {
        hosts.emplace();
        for (const auto& offer : **offers)
            if (matches(offer, shape)) hosts->push_back(offer.host);
    }
    const auto folder = decide_folder(context_.system.here(), hosts);
    if (folder == Folder::callers)
        job["cwd"] = context_.system.current_directory();
    else if (!std::exchange(has_said_, true) && !context_.args.flag("quiet"))
        context_.term.say(fmt::format(
            "it runs in a fresh folder: {}; to name one: --cwd DIR, to say nothing: --cwd -",
            why_fresh(folder)));
    return {};
}

}  // namespace perdure::cli
