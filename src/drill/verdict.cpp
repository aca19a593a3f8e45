#include "drill/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wire/json_writer.h"

namespace perdure::drill {
namespace {

constexpr std::size_t failure_width = 40;
constexpr std::size_t old_width = 18;
constexpr std::size_t figure_width = 9;

constexpr std::string_view green = "\x1b[32m", red = "\x1b[31m", dim = "\x1b[2m", plain = "\x1b[0m";

std::string painted(std::string_view text, std::string_view colour, bool wanted) {
    return wanted ? fmt::format("{}{}{}", colour, text, plain) : std::string(text);
}

// fmt counts what a person sees, not bytes.
std::string left(std::string_view text, std::size_t width) {
    return fmt::format("{:<{}}", text, width);
}
std::string right(std::string_view text, std::size_t width) {
    return fmt::format("{:>{}}", text, width);
}

long milliseconds(double seconds) { return std::lround(seconds * 1000); }

void figure(JsonWriter& out, std::string_view name, std::optional<double> seconds) {
    out.key(name);
    if (seconds)
        out.raw(fmt::format("{:.3f}", *seconds));
    else
        out.null();
}

std::size_t count(const std::vector<Verdict>& verdicts, Pace pace) {
    return static_cast<std::size_t>(std::count_if(
        verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return v.pace() == pace; }));
}

// What a person would notice, and a bound of 0.2 s does not forgive.
constexpr double notable_stall_s = 0.05;

std::string_view mark_of(Pace pace) {
    switch (pace) {
        case Pace::in_time: return "✓";
        case Pace::machine_late: return "~";
        case Pace::late: return "✗";
    }
    return "✗";
}

std::string_view name_of(Pace pace) {
    switch (pace) {
        case Pace::in_time: return "ok";
        case Pace::machine_late: return "machine_late";
        case Pace::late: return "missed";
    }
    return "missed";
}

}  // namespace

Pace decide_pace(const Sample& sample, double bound_s) {
    if (sample.took_s <= bound_s) return Pace::in_time;
    return sample.took_s - sample.stall_s <= bound_s ? Pace::machine_late : Pace::late;
}

double Verdict::p50() const {
    if (samples.empty()) return 0;
    auto sorted = samples;
    std::ranges::sort(sorted, {}, &Sample::took_s);
    return sorted[(sorted.size() - 1) / 2].took_s;
}

double Verdict::max() const {
    return samples.empty() ? 0 : std::ranges::max(samples, {}, &Sample::took_s).took_s;
}

double Verdict::stall() const {
    return samples.empty() ? 0 : std::ranges::max(samples, {}, &Sample::stall_s).stall_s;
}

Pace Verdict::pace() const {
    if (!wrong.empty() || samples.empty()) return Pace::late;
    auto worst = Pace::in_time;
    for (const auto& sample : samples) worst = std::max(worst, decide_pace(sample, row->bound_s));
    return worst;
}

std::string seconds_text(double seconds) {
    if (seconds < 10) return fmt::format("{:.2f} s", seconds);
    return fmt::format("{:.1f} s", seconds);
}

std::string heading() {
    return fmt::format("  {}{}{}{}{}\n", left("failure", failure_width), right("old", old_width),
                       right("bound", figure_width), right("p50", figure_width),
                       right("max", figure_width));
}

std::string line_of(const Verdict& verdict, bool colour) {
    const auto& row = *verdict.row;
    const bool none = verdict.samples.empty();
    const auto pace = verdict.pace();
    return fmt::format(
        "{} {}{}{}{}{}\n", painted(mark_of(pace), pace == Pace::late ? red : green, colour),
        left(row.failure, failure_width), painted(right(row.old, old_width), dim, colour),
        right(fmt::format("{:g} s", row.bound_s), figure_width),
        right(none ? "–" : seconds_text(verdict.p50()), figure_width),
        painted(right(none ? "–" : seconds_text(verdict.max()), figure_width),
                pace == Pace::late ? red : green, colour));
}

std::string complaint_of(const Verdict& verdict) {
    std::string text;
    for (const auto& sentence : verdict.wrong) text += fmt::format("    {}\n", sentence);
    bool said = false;
    for (const auto& sample : verdict.samples) {
        const auto pace = decide_pace(sample, verdict.row->bound_s);
        if (pace == Pace::in_time) continue;
        text += fmt::format("    it took {} where {:g} s are allowed", seconds_text(sample.took_s),
                            verdict.row->bound_s);
        said = said || sample.stall_s > 0;
        if (pace == Pace::machine_late)
            text += fmt::format("; the machine itself was {} ms late: no failure of ours",
                                milliseconds(sample.stall_s));
        else if (sample.stall_s >= notable_stall_s)
            text += fmt::format("; the machine itself was only {} ms late",
                                milliseconds(sample.stall_s));
        text += "\n";
    }
    if (!said && verdict.stall() >= notable_stall_s)
        text += fmt::format("    the machine itself was up to {} ms late meanwhile\n",
                            milliseconds(verdict.stall()));
    return text;
}

std::string summary_of(const std::vector<Verdict>& verdicts, std::size_t neighbours,
                       double took_s) {
    std::size_t runs = 0;
    for (const auto& verdict : verdicts) runs += verdict.runs();
    const auto bad = count(verdicts, Pace::late);
    const auto stalled = count(verdicts, Pace::machine_late);
    auto text = fmt::format("{} accidents of {} kinds in {:.0f} s, beside {} other jobs: ", runs,
                            verdicts.size(), took_s, neighbours);
    if (bad == 0 && stalled > 0)
        return text + fmt::format(
                          "nothing was lost, nothing was stuck, nothing ran that must not. "
                          "In {} of the kinds the machine itself was late, by more than a "
                          "bound was missed; see ~ above.\n",
                          stalled);
    if (bad == 0)
        return text +
               "nothing was lost, nothing was stuck, nothing ran that must not, and every repair "
               "was within its bound.\n";
    return text + fmt::format("{} of the kinds did not end as promised; see ✗ above.\n", bad);
}

std::string as_json(const std::vector<Verdict>& verdicts) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (const auto& verdict : verdicts) {
        const auto& row = *verdict.row;
        const bool none = verdict.samples.empty();
        out.begin_object();
        out.field("failure", row.name);
        figure(out, "old_s", row.old_s);
        figure(out, "bound_s", row.bound_s);
        out.field("runs", verdict.runs());
        figure(out, "p50_s", none ? std::nullopt : std::optional(verdict.p50()));
        figure(out, "max_s", none ? std::nullopt : std::optional(verdict.max()));
        out.field("ok", verdict.ok());
        out.field("verdict", name_of(verdict.pace()));
        figure(out, "stall_s", verdict.stall());
        out.field("what", row.failure);
        out.key("wrong");
        out.begin_array();
        for (const auto& sentence : verdict.wrong) out.value(sentence);
        out.end_array();
        out.end_object();
    }
    out.end_array();
    return text + "\n";
}

std::string list_of(const std::vector<const Row*>& rows) {
    constexpr std::size_t name_width = 22;
    std::string text;
    for (const auto* row : rows)
        text +=
            fmt::format("{}{}{}  {}\n", left(row->name, name_width), right(row->old, old_width),
                        right(fmt::format("{:g} s", row->bound_s), figure_width), row->sentence);
    return text;
}

std::string list_as_json(const std::vector<const Row*>& rows) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (const auto* row : rows) {
        out.begin_object();
        out.field("failure", row->name);
        out.field("what", row->failure);
        out.field("sentence", row->sentence);
        figure(out, "old_s", row->old_s);
        figure(out, "bound_s", row->bound_s);
        out.end_object();
    }
    out.end_array();
    return text + "\n";
}

}  // namespace perdure::drill
