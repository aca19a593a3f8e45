// What a worker offers to take, and what jobs find there: a part of its opening and heartbeats.
#include <array>

#include "core/job/submit.h"
#include "wire/worker_parts.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

constexpr std::array<std::string_view, 3> takes_from_names = {"anybody", "accounts",
                                                              "accounts_and_root"};

void read_names(At at, std::vector<std::string>& into) {
    if (at.count() > offered_names_max) return at.parse_error("must be at most 1000 names");
    into.clear();
    at.elements([&](At element) { read_name(element, into.emplace_back()); });
}

// The empty one is the kind of jobs with a command.
void read_kinds(At at, std::vector<std::string>& into) {
    if (at.count() > offered_names_max) return at.parse_error("must be at most 1000 names");
    into.clear();
    at.elements([&](At element) {
        auto& name = into.emplace_back();
        element.read(name);
        if (element.ok() && !name.empty() && !is_name(name))
            element.parse_error("must be a name, or empty: the kind of jobs with a command");
    });
}

// What is not known is of a later release: it limits nothing that we could ask for.
void read_kept_limits(At at, JobHost& into) {
    if (at.count() > offered_names_max) return at.parse_error("must be at most 1000 names");
    auto& limits = into.limits.emplace();
    at.elements([&](At element) {
        std::string name;
        element.read(name);
        if (element.ok()) add_name(limits, name);
    });
}

void read_job_host(At at, JobHost& into) {
    static constexpr std::array fields = {
        JsonField<JobHost>{"uid",
                           [](At a, JobHost& h) {
                               a.read_between(h.uid.emplace(), std::uint32_t{0}, UINT32_MAX);
                           }},
        JsonField<JobHost>{"files",
                           [](At a, JobHost& h) {
                               read_text(a, h.files, {0, files_mark_max});
                           }},
        JsonField<JobHost>{"limits", [](At a, JobHost& h) { read_kept_limits(a, h); }},
    };
    read_fields<JobHost>(at, fields, into);
}

}  // namespace

void write_job_host(JsonWriter& out, const JobHost& host) {
    out.key("host");
    out.begin_object();
    if (host.uid) out.field("uid", *host.uid);
    if (!host.files.empty()) out.field("files", host.files);
    if (host.limits) {
        out.key("limits");
        out.begin_array();
        for (const auto name : names_of(*host.limits)) out.value(name);
        out.end_array();
    }
    out.end_object();
}

void write_offer(JsonWriter& out, const Offer& offer) {
    out.key("offer");
    out.begin_object();
    out.field("tenant", offer.tenant);
    for (const auto& [name, list] :
         {std::pair{"queues", &offer.queues}, std::pair{"kinds", &offer.kinds},
          std::pair{"other_tenants", &offer.other_tenants}}) {
        if (list->empty()) continue;
        out.key(name);
        out.begin_array();
        for (const auto& entry : *list) out.value(entry);
        out.end_array();
    }
    if (offer.takes_from != TakesFrom::anybody)
        out.field("takes_from", takes_from_names[static_cast<std::size_t>(offer.takes_from)]);
    if (offer.host != JobHost{}) write_job_host(out, offer.host);
    out.end_object();
}

void read_offer(At at, Offer& into) {
    static constexpr std::array fields = {
        JsonField<Offer>{"tenant", [](At a, Offer& o) { read_name(a, o.tenant); }},
        JsonField<Offer>{"queues", [](At a, Offer& o) { read_names(a, o.queues); }},
        JsonField<Offer>{"kinds", [](At a, Offer& o) { read_kinds(a, o.kinds); }},
        JsonField<Offer>{"other_tenants", [](At a, Offer& o) { read_names(a, o.other_tenants); }},
        JsonField<Offer>{"takes_from",
                         [](At a, Offer& o) { read_enum(a, takes_from_names, o.takes_from); }},
        JsonField<Offer>{"host", [](At a, Offer& o) { read_job_host(a, o.host); }},
    };
    read_fields<Offer>(at, fields, into);
}

}  // namespace perdure
