// Terminal: data goes to standard output so that it can be piped, whatever is said to a person goes
// to standard error. Colours and passing lines appear only where a person looks.
#pragma once

#include <boost/json/value.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/exit_code.h"

namespace perdure::cli {

enum class Colour { plain, dim, bold, red, green, yellow, blue };

class Terminal {
public:
    struct Look {
        bool colour = false;       // standard output is a terminal, and NO_COLOR is not set
        bool interactive = false;  // somebody can be asked
        bool passing = false;      // standard error is a terminal: lines can be written over
        std::size_t width = 0;     // of standard output; zero: not a terminal
    };
    Terminal(std::ostream& out, std::ostream& err, Look look) : out_(out), err_(err), look_(look) {}

    const Look& look() const { return look_; }

    // Data, as it is.
    void out(std::string_view text);
    void print(const boost::json::value& document);
    // A sentence for the person.
    void say(std::string_view sentence);
    // A question, without a line's end.
    void ask(std::string_view question);
    // A line that the next one writes over; nothing unless somebody looks.
    void passing(std::string_view text);

    // What happened, what to do, where to read on; and the exit code that goes with it.
    ExitCode fail(const Error& error, std::string_view path = {});
    ExitCode usage(std::string_view sentence);

    std::string paint(std::string_view text, Colour colour) const;

private:
    void clear_passing();

    std::ostream& out_;
    std::ostream& err_;
    Look look_;
    bool passing_ = false;
};

ExitCode exit_code_of(Errc code);
Colour colour_of_state(std::string_view state);

}  // namespace perdure::cli
