// Path trust: whether a directory, a file in it or a configuration file may be used, by who owns it
// and who else can write it. As PostgreSQL and ssh do: what somebody else could have planted is not
// ours. Facts come from the open descriptor, never from a name that could change in between.
//   A1  Nothing that belongs to another account, or that another account can write, is used.
#pragma once

#include <string_view>

namespace perdure {

enum class PathRole {
    ancestor,       // a directory above, or a symbolic link on the way
    directory,      // the data or state directory itself
    entry,          // a file or folder in it
    configuration,  // a file of settings
};

struct PathFacts {
    PathRole role = PathRole::ancestor;
    enum class Owner { self, root, other } owner = Owner::other;  // self: also if that is root
    enum class Kind { directory, file, symlink, other } kind = Kind::other;
    bool writable_by_others = true;  // by group or everybody
    bool readable_by_others = true;
    bool sticky = false;  // entries can be renamed and removed by their owners alone
};

enum class PathVerdict { trust, tighten, refuse };

struct PathDecision {
    PathVerdict verdict = PathVerdict::refuse;
    std::string_view rule;
};

PathDecision decide_path_trust(const PathFacts& facts);

}  // namespace perdure
