// Reading a server's answer for the screen. Servers may be newer than we are: what is missing or of
// another type is shown as nothing, never a crash.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cli/api_caller.h"
#include "cli/terminal.h"

namespace perdure::cli {

const boost::json::value& member(const boost::json::value& from, std::string_view name);
bool has(const boost::json::value& from, std::string_view name);
std::string text_of(const boost::json::value& from, std::string_view name);
std::int64_t number_of(const boost::json::value& from, std::string_view name);
bool truth_of(const boost::json::value& from, std::string_view name);
const boost::json::array& list_of(const boost::json::value& from, std::string_view name);
std::optional<WallTime> time_of(const boost::json::value& from, std::string_view name);
// "3 min ago", or nothing.
std::string relative_of(const boost::json::value& from, std::string_view name, WallTime now);
// "1 h 30 min" of a duration's text, or nothing.
std::string spoken_of(const boost::json::value& from, std::string_view name);
// Words between commas.
std::string joined_of(const boost::json::value& from, std::string_view name);
// Its policy, on one line: a name, or how many rules there are and what judges the rest.
std::string policy_of(const boost::json::value& job);
// "1.5 s cpu (1.2 s user, 0.3 s system), 4 MiB read, 1 MiB written", or nothing.
std::string usage_of(const boost::json::value& evidence);
// "40 % second half", or nothing.
std::string progress_of(const boost::json::value& job);
// What a job does, on one line: its command, quoted as a shell would need it, or its kind.
// "alice (uid 1001)", "token deploy"; empty: nobody knows.
std::string submitter_of(const boost::json::value& job);
std::string what_it_does(const boost::json::value& job);

// A part of a target, escaped.
std::string escaped(std::string_view text);

// The body of an answer that is ok. Otherwise the exit code, with everything said.
struct Asked {
    std::optional<boost::json::value> body;
    ExitCode code = ExitCode::ok;
    unsigned status = 0;

    explicit operator bool() const { return body.has_value(); }
};
Asked ask(ApiCaller& api, Terminal& term, const ApiRequest& request);
// A list that a server gives page by page, as one answer.
struct Pages {
    std::string target;
    std::string_view list;    // the field that has the lines
    std::string_view cursor;  // the parameter that takes a page's `next`
    // Until there are some lines, or none are left: a page may be empty and have a next one.
    enum class Until { lines, end } until = Until::end;
};
Asked ask_pages(ApiCaller& api, Terminal& term, const Pages& pages);
// No server was reached: says where, and how to start one.
ExitCode unreachable(Terminal& term, const ApiCaller& api, const Error& error);

}  // namespace perdure::cli
