#include "core/access/path_trust.h"

namespace perdure {
namespace {

using Owner = PathFacts::Owner;
using Kind = PathFacts::Kind;

// A directory of temporary files belongs to the system and is sticky: nobody else can put another
// directory in the place of ours.
bool is_shared_safely(const PathFacts& facts) { return facts.sticky && facts.owner == Owner::root; }

PathDecision decide_ancestor(const PathFacts& facts) {
    // The mode of a link means nothing; who made it chose where it leads.
    if (facts.kind == Kind::symlink) return {PathVerdict::trust, "A1/link_of_ours"};
    if (facts.kind != Kind::directory) return {PathVerdict::refuse, "A1/no_directory"};
    if (facts.writable_by_others && !is_shared_safely(facts))
        return {PathVerdict::refuse, "A1/writable_by_others"};
    return {PathVerdict::trust, "A1/ours"};
}

PathDecision decide_directory(const PathFacts& facts) {
    if (facts.kind != Kind::directory) return {PathVerdict::refuse, "A1/no_directory"};
    if (facts.owner != Owner::self) return {PathVerdict::refuse, "A1/foreign"};
    if (facts.writable_by_others) return {PathVerdict::refuse, "A1/writable_by_others"};
    if (facts.readable_by_others) return {PathVerdict::tighten, "A1/readable_by_others"};
    return {PathVerdict::trust, "A1/ours"};
}

PathDecision decide_entry(const PathFacts& facts) {
    if (facts.kind == Kind::symlink) return {PathVerdict::refuse, "A1/symlink"};
    if (facts.writable_by_others) return {PathVerdict::refuse, "A1/writable_by_others"};
    // What root has put there, root may keep as it is.
    const bool can_tighten = facts.readable_by_others && facts.owner == Owner::self;
    if (can_tighten) return {PathVerdict::tighten, "A1/readable_by_others"};
    return {PathVerdict::trust, "A1/ours"};
}

PathDecision decide_configuration(const PathFacts& facts) {
    if (facts.kind != Kind::file) return {PathVerdict::refuse, "A1/no_file"};
    if (facts.writable_by_others) return {PathVerdict::refuse, "A1/writable_by_others"};
    return {PathVerdict::trust, "A1/ours"};
}

}  // namespace

PathDecision decide_path_trust(const PathFacts& facts) {
    if (facts.owner == Owner::other) return {PathVerdict::refuse, "A1/foreign"};
    switch (facts.role) {
        case PathRole::ancestor: return decide_ancestor(facts);
        case PathRole::directory: return decide_directory(facts);
        case PathRole::entry: return decide_entry(facts);
        case PathRole::configuration: return decide_configuration(facts);
    }
    return {PathVerdict::refuse, "A1/foreign"};
}

}  // namespace perdure
