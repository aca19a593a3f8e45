#include "store/sqlite/rows/load_relations.h"

#include "store/sqlite/rows/bytes.h"
#include "store/sqlite/rows/codec.h"

namespace perdure::sqlite {
namespace {

constexpr std::uint64_t input_form = 1;

On on_of(const Found& row, int column) {
    const auto value = row.number(column);
    if (value < 0 || value > static_cast<std::int64_t>(On::end))
        fail_corrupt("a stored choice is unknown");
    return static_cast<On>(value);
}

}  // namespace

std::string encode(const Input& input) {
    ByteWriter out;
    out.number(input_form);
    out.number(input.job.value);
    out.number(input.generation);
    out.choice(input.state);
    out.choice(input.cause);
    out.number(input.exit_code.has_value());
    if (input.exit_code) out.integer(*input.exit_code);
    out.text(input.result);
    out.number(input.result_left_out);
    return out.take();
}

Input decode_input(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != input_form) fail_corrupt("an input is in a form that is not known");
    Input input;
    input.job = JobId{in.id()};
    input.generation = in.small();
    input.state = in.choice(JobState::quarantined);
    input.cause = in.choice(last_cause);
    if (in.number() != 0) input.exit_code = static_cast<std::int32_t>(in.integer());
    input.result = in.text();
    input.result_left_out = in.number() != 0;
    in.end();
    return input;
}

RelationLoader::RelationLoader(Connection& c)
    : facts_(c, "SELECT on_end, state FROM awaited WHERE job = ? ORDER BY number"),
      awaited_(c, "SELECT other, on_end, ended FROM awaited WHERE job = ? ORDER BY number"),
      added_(c,
             "SELECT id, number, since_generation, on_end, spec FROM callback WHERE parent = ?"
             " ORDER BY number"),
      made_(c,
            "SELECT generation, number, job FROM made WHERE parent = ?"
            " ORDER BY generation, number"),
      made_one_(c, "SELECT job FROM made WHERE parent = ? AND generation = ? AND number = ?") {}

std::vector<AwaitedFacts> RelationLoader::facts(JobId job) {
    std::vector<AwaitedFacts> others;
    auto row = facts_.query({job});
    while (row.next()) {
        auto& facts = others.emplace_back(AwaitedFacts{.on = on_of(row, 0), .ended_as = {}});
        if (row.is_null(1)) continue;
        const auto state = static_cast<JobState>(row.number(1));
        if (row.bits(1) >= places.size() || !has_ended(state))
            fail_corrupt("what job " + job.text() + " waited for has no known end");
        facts.ended_as = state;
    }
    return others;
}

std::vector<AwaitedView> RelationLoader::awaited(JobId job) {
    std::vector<AwaitedView> all;
    auto row = awaited_.query({job});
    while (row.next()) {
        const After after{row.job(0), on_of(row, 1)};
        auto& view = all.emplace_back(AwaitedView{after, std::nullopt});
        if (!row.is_null(2)) view.ended = decode_input(row.bytes(2));
    }
    return all;
}

std::vector<Input> RelationLoader::inputs(const JobRow& job) {
    std::vector<Input> inputs;
    if (!has_awaited(*job.spec)) return inputs;
    for (auto& view : awaited(job.id))
        if (view.ended) inputs.push_back(std::move(*view.ended));
    return within_limit(std::move(inputs));
}

std::vector<AddedRow> RelationLoader::added(JobId parent) {
    std::vector<AddedRow> all;
    auto row = added_.query({parent});
    while (row.next()) {
        auto spec = std::make_shared<const JobSpec>(decode_spec(row.bytes(4)));
        all.push_back({.id = row.job(0),
                       .number = row.small(1),
                       .since_generation = row.small(2),
                       .callback = {on_of(row, 3), std::move(spec)}});
    }
    return all;
}

std::vector<MadeCallback> RelationLoader::made(JobId parent) {
    std::vector<MadeCallback> all;
    auto row = made_.query({parent});
    while (row.next()) all.push_back({row.small(0), row.small(1), row.job(2)});
    return all;
}

std::optional<JobId> RelationLoader::made(const CallbackOf& of) {
    auto row = made_one_.query({of.job, of.generation, of.number});
    if (!row.next()) return std::nullopt;
    return row.job(0);
}

void RelationLoader::show(const JobRow& job, JobView& view) {
    if (has_awaited(*job.spec)) view.awaited = awaited(job.id);
    for (auto& row : added(job.id))
        view.added.push_back({row.number, row.since_generation, std::move(row.callback)});
    view.made = made(job.id);
}

}  // namespace perdure::sqlite
