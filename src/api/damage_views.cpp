#include "api/damage_views.h"

namespace perdure {

std::string remedy_of(const Damaged& row) {
    if (row.table == "job" && row.job && row.row == row.job.text())
        return "perdure job discard " + row.row + " --damaged; or restore a backup";
    return "perdure fsck --discard '" + row.table + ":" + row.row + "'; or restore a backup";
}

void write_damaged(JsonWriter& out, const std::vector<Damaged>& rows) {
    out.key("damaged");
    out.begin_array();
    for (const auto& row : rows) {
        out.begin_object();
        out.field("table", row.table);
        out.field("row", row.row);
        if (row.job) out.field("job", row.job);
        out.field("what", row.why);
        out.field("fix", remedy_of(row));
        out.end_object();
    }
    out.end_array();
}

}  // namespace perdure
