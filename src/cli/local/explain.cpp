// perdure explain [CODE]: what an error means and what to do, without a server or the sources.
#include <fmt/format.h>

#include "base/words.h"
#include "cli/local/error_pages.h"
#include "cli/local/local_commands.h"

namespace perdure::cli {
namespace {

// Of a link only its text means something on a terminal.
std::string without_links(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        const auto open = text.find('[');
        const auto middle = open == text.npos ? text.npos : text.find("](", open);
        const auto close = middle == text.npos ? text.npos : text.find(')', middle);
        if (close == text.npos || text.substr(open, middle - open).find('\n') != text.npos) {
            const auto piece = open == text.npos ? text.size() : open + 1;
            made += text.substr(0, piece);
            text.remove_prefix(piece);
            continue;
        }
        made += text.substr(0, open);
        made += text.substr(open + 1, middle - open - 1);
        text.remove_prefix(close + 1);
    }
    return made;
}

// What stands behind the heading, to the end of its first sentence.
std::string gist_of(const ErrorPage& page) {
    const auto from = page.text.find("\n\n");
    if (from == page.text.npos) return "";
    auto text = page.text.substr(from + 2);
    text = text.substr(0, text.find("\n\n"));
    auto gist = without_links(text.substr(0, std::min(text.find(". "), text.size())));
    for (char& c : gist)
        if (c == '\n') c = ' ';
    if (gist.ends_with('.')) gist.pop_back();
    return gist;
}

}  // namespace

ExitCode explain_error(Context& context) {
    auto& term = context.term;
    const auto code = context.args.one("code");
    if (!code) {
        for (const auto& page : error_pages())
            term.out(fmt::format("{:<17}{}\n", page.code, gist_of(page)));
        return ExitCode::ok;
    }
    std::vector<std::string_view> known;
    for (const auto& page : error_pages()) {
        if (page.code == *code) {
            term.out(without_links(page.text));
            return ExitCode::ok;
        }
        known.push_back(page.code);
    }
    const auto meant = nearest(*code, known);
    return term.usage(fmt::format("there is no error {}{}; perdure explain lists them all", *code,
                                  meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

}  // namespace perdure::cli
