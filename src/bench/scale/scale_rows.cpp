#include "bench/scale/scale_rows.h"

#include <fmt/format.h>

#include "bench/text_table.h"
#include "wire/json_writer.h"

namespace perdure::bench {
namespace {

std::string number_text(double value) {
    if (value >= 100 || value == 0) return fmt::format("{:.0f}", value);
    return value >= 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

// "/s" stands close to its number, words do not.
std::string unit_text(const std::string& unit) { return (unit.starts_with("/") ? "" : " ") + unit; }

std::string reading_text(const std::optional<Reading>& reading) {
    if (!reading) return "–";
    const auto value = number_text(reading->value) + unit_text(reading->unit);
    return reading->what.empty() ? value : reading->what + ": " + value;
}

std::string large_text(const ScaleRow& row) {
    return reading_text(row.large) + (row.gave_up ? ", unfinished" : "");
}

std::string ratio_text(const ScaleRow& row) {
    const auto ratio = ratio_of(row);
    return ratio ? fmt::format("{:.2f}", *ratio) : "–";
}

std::string wanted_text(const ScaleRow& row) {
    const auto& wanted = row.wanted;
    if (wanted.of == Wanted::Of::nothing) return "–";
    const bool by_ratio = wanted.of == Wanted::Of::ratio;
    const auto* sign = wanted.is == Wanted::Is::at_least ? "≥" : "≤";
    auto text = fmt::format("{} {}{}", sign, by_ratio ? "ratio " : "", wanted.bound);
    if (!by_ratio && row.large) text += unit_text(row.large->unit);
    if (wanted.goal > 0) text += fmt::format(", goal {}", wanted.goal);
    return text;
}

std::string_view verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::met: return "met";
        case Verdict::missed: return "missed";
        case Verdict::not_measured: return "not measured";
        case Verdict::not_judged: return "–";
    }
    return "–";
}

std::string_view verdict_name(Verdict verdict) {
    if (verdict == Verdict::not_measured) return "not_measured";
    return verdict == Verdict::not_judged ? "not_judged" : verdict_text(verdict);
}

void write_value(JsonWriter& out, std::string_view name, double value) {
    out.key(name);
    out.raw(fmt::format("{:.6g}", value));
}

void write_reading(JsonWriter& out, std::string_view name, const std::optional<Reading>& reading) {
    if (!reading) return;
    out.key(name);
    out.begin_object();
    out.field("case", reading->what);
    write_value(out, "value", reading->value);
    out.field("unit", reading->unit);
    out.end_object();
}

void write_wanted(JsonWriter& out, const Wanted& wanted) {
    if (wanted.of == Wanted::Of::nothing) return;
    out.key("wanted");
    out.begin_object();
    out.field("of", wanted.of == Wanted::Of::ratio ? "ratio" : "value");
    write_value(out, wanted.is == Wanted::Is::at_least ? "at_least" : "at_most", wanted.bound);
    if (wanted.goal > 0) write_value(out, "goal", wanted.goal);
    out.end_object();
}

void write_row(JsonWriter& out, const ScaleRow& row) {
    out.begin_object();
    out.field("name", row.name);
    out.field("measure", row.measure);
    out.field("by", row.by);
    write_reading(out, "small", row.small);
    write_reading(out, "large", row.large);
    if (const auto ratio = ratio_of(row)) write_value(out, "ratio", *ratio);
    write_wanted(out, row.wanted);
    out.field("verdict", verdict_name(verdict_of(row)));
    out.field("gave_up", row.gave_up);
    if (!row.note.empty()) out.field("note", row.note);
    out.end_object();
}

}  // namespace

std::optional<double> ratio_of(const ScaleRow& row) {
    if (!row.small || !row.large || row.small->value <= 0 || row.large->value <= 0)
        return std::nullopt;
    return row.large->value / row.small->value;
}

Verdict verdict_of(const ScaleRow& row) {
    if (!row.large) return Verdict::not_measured;
    if (row.wanted.of == Wanted::Of::nothing) return Verdict::not_judged;
    const auto judged =
        row.wanted.of == Wanted::Of::ratio ? ratio_of(row) : std::optional(row.large->value);
    if (!judged) return Verdict::not_measured;
    const bool met = row.wanted.is == Wanted::Is::at_least ? *judged >= row.wanted.bound
                                                           : *judged <= row.wanted.bound;
    return met ? Verdict::met : Verdict::missed;
}

std::string as_table(const std::vector<ScaleRow>& rows) {
    std::vector<std::vector<std::string>> lines = {
        {"name", "measure", "small case", "large case", "ratio", "wanted", "verdict"}};
    std::string notes;
    for (const auto& row : rows) {
        lines.push_back({row.name, row.measure, reading_text(row.small), large_text(row),
                         ratio_text(row), wanted_text(row),
                         std::string(verdict_text(verdict_of(row)))});
        if (!row.note.empty())
            notes += fmt::format("{}, {}: {}\n", row.name, row.measure, row.note);
    }
    return columns(lines) + (notes.empty() ? "" : "\n" + notes);
}

std::string as_json(const std::vector<ScaleRow>& rows) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    out.field("store", "sqlite");
    out.key("rows");
    out.begin_array();
    for (const auto& row : rows) write_row(out, row);
    out.end_array();
    out.end_object();
    return text + "\n";
}

}  // namespace perdure::bench
