// What can go wrong in a way a caller can react to: one code per reaction, not per reason.
// Detail for people goes into `what`, added once, where the error is born.
// Every code has a page in docs/errors.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace perdure {

enum class Errc {
    invalid,          // reject the request
    not_found,        // say so
    gone,             // it was there, has ended and was removed: there is nothing left to do
    conflict,         // reread, decide again: somebody moved first
    unauthenticated,  // say who you are: present a token, or use the socket
    forbidden,        // let somebody do it who may: this identity, or this owner, may not
    fenced,           // stop working: the attempt belongs to a later epoch or session
    overloaded,       // back off, then repeat
    unavailable,      // reconnect, then repeat: nothing was changed
    outcome_unknown,  // read back before repeating: it may have happened
    corrupt,          // stop and call a person
};

constexpr std::string_view to_string(Errc code) {
    switch (code) {
        case Errc::invalid: return "invalid";
        case Errc::not_found: return "not_found";
        case Errc::gone: return "gone";
        case Errc::conflict: return "conflict";
        case Errc::unauthenticated: return "unauthenticated";
        case Errc::forbidden: return "forbidden";
        case Errc::fenced: return "fenced";
        case Errc::overloaded: return "overloaded";
        case Errc::unavailable: return "unavailable";
        case Errc::outcome_unknown: return "outcome_unknown";
        case Errc::corrupt: return "corrupt";
    }
    return "corrupt";
}

struct Error {
    Errc code = Errc::corrupt;
    std::string what;
};

inline Error error(Errc code, std::string what) { return Error{code, std::move(what)}; }

}  // namespace perdure
