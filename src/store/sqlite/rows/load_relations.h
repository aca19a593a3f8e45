// RelationLoader: reads what jobs wait for, and their callbacks, from one connection (K1 to K3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/callbacks.h"
#include "ports/views.h"
#include "store/sqlite/db/statement.h"
#include "store/sqlite/rows/rows.h"

namespace perdure::sqlite {

std::string encode(const Input& input);
Input decode_input(std::string_view bytes);

// A callback that was added later, as it is stored.
struct AddedRow {
    JobId id;  // of the asking
    std::uint32_t number = 0;
    std::uint32_t since_generation = 1;
    Callback callback;
};

class RelationLoader {
public:
    explicit RelationLoader(Connection& connection);

    // What decides whether a job goes on; no more than that is read.
    std::vector<AwaitedFacts> facts(JobId job);
    std::vector<AwaitedView> awaited(JobId job);
    // What it is given at its start; nothing is read for a job that waited for nobody.
    std::vector<Input> inputs(const JobRow& job);
    std::vector<AddedRow> added(JobId parent);
    std::vector<MadeCallback> made(JobId parent);
    std::optional<JobId> made(const CallbackOf& of);
    void show(const JobRow& job, JobView& view);

private:
    Statement facts_, awaited_, added_, made_, made_one_;
};

inline bool has_awaited(const JobSpec& spec) {
    return spec.callback_of.has_value() || !spec.after.empty();
}

}  // namespace perdure::sqlite
