#include "cli/terminal.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

namespace perdure::cli {
namespace {

std::string_view code_of(Colour colour) {
    switch (colour) {
        case Colour::plain: return "";
        case Colour::dim: return "2";
        case Colour::bold: return "1";
        case Colour::red: return "31";
        case Colour::green: return "32";
        case Colour::yellow: return "33";
        case Colour::blue: return "34";
    }
    return "";
}

// The server's sentence says what to change; this says what to do in any such case.
std::string_view advice(Errc code) {
    switch (code) {
        case Errc::invalid: return "";
        case Errc::not_found: return "";
        case Errc::gone: return "nothing is left to do";
        case Errc::conflict: return "";
        case Errc::unauthenticated:
        case Errc::forbidden: return "";
        case Errc::fenced: return "";
        case Errc::overloaded: return "wait a moment, then repeat the command";
        case Errc::unavailable: return "nothing was changed; repeat the command";
        case Errc::outcome_unknown: return "it may have happened: look before you repeat";
        case Errc::corrupt: return "stop, and let a person look at it: perdure fsck";
    }
    return "";
}

}  // namespace

void Terminal::clear_passing() {
    if (passing_) err_ << "\r\x1b[K";
    passing_ = false;
}

void Terminal::out(std::string_view text) {
    clear_passing();
    err_.flush();
    out_ << text;
    out_.flush();
}

void Terminal::print(const boost::json::value& document) {
    out(boost::json::serialize(document) + "\n");
}

void Terminal::say(std::string_view sentence) {
    out_.flush();
    clear_passing();
    err_ << "perdure: " << sentence << '\n';
    err_.flush();
}

void Terminal::ask(std::string_view question) {
    out_.flush();
    clear_passing();
    err_ << question << ' ';
    err_.flush();
}

void Terminal::passing(std::string_view text) {
    if (!look_.passing) return;
    clear_passing();
    err_ << text;
    err_.flush();
    passing_ = true;
}

ExitCode Terminal::fail(const Error& error, std::string_view path) {
    std::string sentence = error.what;
    if (!path.empty()) sentence += fmt::format(" (at {})", path);
    say(sentence);
    if (const auto todo = advice(error.code); !todo.empty()) say(todo);
    say(fmt::format("more about `{0}`: perdure explain {0}", to_string(error.code)));
    return exit_code_of(error.code);
}

ExitCode Terminal::usage(std::string_view sentence) {
    say(sentence);
    return ExitCode::usage;
}

std::string Terminal::paint(std::string_view text, Colour colour) const {
    const auto code = code_of(colour);
    if (!look_.colour || code.empty()) return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

ExitCode exit_code_of(Errc code) {
    switch (code) {
        case Errc::invalid: return ExitCode::usage;
        case Errc::not_found: return ExitCode::not_found;
        case Errc::gone: return ExitCode::not_found;
        case Errc::conflict: return ExitCode::conflict;
        case Errc::unauthenticated: return ExitCode::forbidden;
        case Errc::forbidden: return ExitCode::forbidden;
        case Errc::fenced: return ExitCode::conflict;
        case Errc::overloaded: return ExitCode::temporary;
        case Errc::unavailable: return ExitCode::temporary;
        case Errc::outcome_unknown: return ExitCode::outcome_unknown;
        case Errc::corrupt: return ExitCode::corrupt;
    }
    return ExitCode::corrupt;
}

Colour colour_of_state(std::string_view state) {
    if (state == "succeeded") return Colour::green;
    if (state == "failed" || state == "quarantined") return Colour::red;
    if (state == "expired" || state == "blocked") return Colour::yellow;
    if (state == "running" || state == "starting") return Colour::blue;
    if (state == "cancelled") return Colour::dim;
    return Colour::plain;
}

}  // namespace perdure::cli
