#include "tests/executor/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace perdure::executor {
namespace {

// Every kind of change in a few words; those that the play does not use by their number.
struct InWords {
    Trace& trace;

    std::string operator()(const Heartbeat& c) const {
        return fmt::format("heartbeat {} number {} seen {} lists {}", trace.name(c.session),
                           c.number, c.seen, c.attempts.size());
    }
    // The time of a tick is no real duration here: each advances by the same step.
    std::string operator()(const Tick& c) const {
        return fmt::format("tick {} to {} at {} us", c.seen_tick, c.next.tick, c.next.now.us);
    }
    std::string operator()(const Submit& c) const {
        return fmt::format("submit {} {}", trace.name(c.id), c.spec->kind);
    }
    std::string operator()(const Claim& c) const {
        return fmt::format("claim {} stream {} max {}", trace.name(c.session), c.stream, c.max);
    }
    std::string operator()(const OpenSession& c) const {
        return fmt::format("open {} life {} on disk {}", trace.name(c.session), c.life,
                           c.on_disk.size());
    }
    std::string operator()(const OpenStream& c) const {
        return "open stream of " + trace.name(c.session);
    }
    std::string operator()(const Start& c) const { return "start " + trace.name(c.attempt); }
    std::string operator()(const Report& c) const {
        return fmt::format("report {} {}{}", trace.name(c.attempt), to_string(c.end.cause),
                           c.end.succeeded ? " success" : "");
    }
    std::string operator()(const Sweep& c) const {
        std::string text = "sweep";
        for (const auto job : c.waiting) text += " " + trace.name(job);
        return text;
    }
    std::string operator()(const Cancel& c) const { return "cancel " + trace.name(c.job); }
    std::string operator()(const Hold& c) const {
        return (c.hold ? "hold " : "unhold ") + trace.name(c.job);
    }
    std::string operator()(const TakeKeeper& c) const {
        return fmt::format("keeper epoch {} until {} us", c.next.epoch, c.next.deadline.us);
    }
    std::string operator()(const DefineLimit& c) const {
        return fmt::format("limit {} of {}", c.name, c.max);
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return fmt::format("change {}", Change(Other{}).index());
    }
};

struct ReplyInWords {
    Trace& trace;

    std::string operator()(const Applied&) const { return "applied"; }
    std::string operator()(const HeartbeatTaken& r) const {
        return fmt::format("answer {} resent {} stop {} kill {} recall {} ended {}",
                           static_cast<int>(r.answer), r.resent.size(), r.stop.size(),
                           r.kill.size(), r.recall.size(), r.ended.size());
    }
    std::string operator()(const SessionOpened& r) const {
        return fmt::format("opened {} as {} ended {}", trace.name(r.session),
                           static_cast<int>(r.opening), r.ended.size());
    }
    std::string operator()(const Swept& r) const {
        std::string text = "swept";
        for (const auto& a : r.attempts)
            text += fmt::format(" {} by {}", trace.name(a.attempt), a.decision.rule);
        for (const auto& w : r.waiting)
            text += fmt::format(" {} by {}", trace.name(w.newest.job), w.decision.rule);
        return text;
    }
    std::string operator()(const Submitted& r) const {
        return fmt::format("{} {} {}", r.created ? "created" : "found", trace.name(r.id),
                           to_string(r.state));
    }
    std::string operator()(const BatchSubmitted& r) const {
        return fmt::format("submitted {}", r.jobs.size());
    }
    std::string operator()(const CallbackAdded& r) const {
        return fmt::format("callback {}", r.number);
    }
    std::string operator()(const Claimed& r) const {
        std::string text = "claimed";
        for (const auto& a : r.assignments)
            text += fmt::format(" {}#{}", trace.name(a.attempt), a.number);
        return text + fmt::format(" left {}", r.left);
    }
    std::string operator()(const StreamOpened& r) const {
        return fmt::format("stream {}", r.stream);
    }
    std::string operator()(const Reported& r) const { return std::string(r.rule); }
    std::string operator()(const Cancelled& r) const {
        return fmt::format("cancel kind {}", static_cast<int>(r.kind));
    }
    std::string operator()(const Forgotten& r) const {
        return fmt::format("forgot {}", r.jobs.size());
    }
};

}  // namespace

std::uint64_t Trace::hash() const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const auto& line : lines_)
        for (const char c : line + '\n')
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

std::string Trace::named(Numbers& numbers, std::uint64_t value, char letter) {
    const auto number = numbers.emplace(value, numbers.size() + 1).first->second;
    return fmt::format("{}{}", letter, number);
}

std::string Trace::name(AttemptKey attempt) {
    return fmt::format("{}.{}", name(attempt.job), attempt.epoch.value);
}

std::string Trace::of(const Change& change) { return std::visit(InWords{*this}, change); }

std::string Trace::of(const ChangeReply& reply) {
    if (!reply) return std::string(to_string(reply.error().code));
    return std::visit(ReplyInWords{*this}, *reply);
}

std::string Trace::of(const OverdueView& view) {
    std::string text = fmt::format("tick {}", view.clock.tick);
    for (const auto job : view.waiting) text += " wait " + name(job);
    return text + fmt::format(" free {}", view.free_permits.size());
}

std::string Trace::of(const SessionView& view) {
    auto text = fmt::format("{} {} renewal {}", name(view.session), view.open ? "open" : "ended",
                            view.renewal);
    for (const auto& run : view.runs)
        text += fmt::format(" {} {}", name(run.attempt), to_string(run.state));
    return text;
}

std::string Trace::of(const JobView& view) {
    return fmt::format("{} {} epoch {} generation {} attempts {} {}", name(view.id),
                       to_string(view.state), view.epoch.value, view.generation,
                       view.attempts.size(), view.rule);
}

std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    if (a == b) return "";
    const auto common = std::min(a.size(), b.size());
    std::size_t at = 0;
    while (at < common && a[at] == b[at]) ++at;
    std::string text = fmt::format("{} and {} lines, the first difference in line {}:\n", a.size(),
                                   b.size(), at + 1);
    for (auto i = at > 3 ? at - 3 : 0; i < at; ++i) text += "    " + a[i] + "\n";
    text += "  a " + (at < a.size() ? a[at] : "(end)") + "\n";
    text += "  b " + (at < b.size() ? b[at] : "(end)") + "\n";
    return text;
}

}  // namespace perdure::executor
