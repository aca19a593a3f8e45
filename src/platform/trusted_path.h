// Trusted paths: the facts for decide_path_trust (A1), gathered with open descriptors that follow
// no link by themselves, and what the decision wants carried out. After a path was trusted to its
// end, no other account can change where it leads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

struct TrustedDirectory {
    std::string path;                // without links
    std::vector<std::string> notes;  // what was tightened, a sentence each
};

// As much of the path as there is, before the rest is made. `what` names it for people: "data
// directory". Answers the path without links. forbidden: with a sentence that says whose it is and
// what to do. unavailable: it cannot be read.
Result<std::string> trust_way_to(const std::string& path, const std::string& what);

// The directory, which must be there, and what lies directly in it.
Result<TrustedDirectory> trust_directory(const std::string& path, const std::string& what);

// A file of settings that is looked for without being asked for, or a secret. not_found: there is
// none. forbidden: it is not to be trusted, or it is a secret that others can read.
enum class Secrecy { open, secret };
Result<std::string> read_trusted_file(const std::string& path, Secrecy secrecy = Secrecy::open);

}  // namespace perdure
