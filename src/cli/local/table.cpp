// The commands besides: measuring, trying out, and what the program says of itself.
#include "cli/command.h"
#include "cli/local/local_commands.h"

namespace perdure::cli {
namespace {

constexpr std::string_view other_group = "Besides";

using How = Word::How;

// What the program says of itself.
void add_reference(std::vector<Command>& all) {
    all.push_back({.path = "explain",
                   .group = other_group,
                   .summary = "what an error means, and what to do",
                   .example = "  perdure explain conflict",
                   .words = {{"code", "of the error; left out: all of them", How::optional}},
                   .run = explain_error});
    all.push_back({.path = "completion",
                   .group = other_group,
                   .summary = "completion for bash, zsh or fish",
                   .example = "  source <(perdure completion bash)",
                   .words = {{"shell", "bash, zsh or fish"}},
                   .run = print_completion});
    // Hidden: for packagers.
    all.push_back({.path = "man-page",
                   .summary = "a manual page, in roff",
                   .example = "  perdure man-page perdure-job-show | man -l -",
                   .words = {{"name", "of the page; `perdure` if left out", How::optional}},
                   .options = {{"--list", "", "the names of all pages instead"}},
                   .run = print_man_page});
    all.push_back({.path = "version",
                   .group = other_group,
                   .summary = "which version this is",
                   .example = "  perdure version",
                   .run = print_version});
}

}  // namespace

void add_others(std::vector<Command>& all) {
    all.push_back(
        {.path = "bench",
         .group = other_group,
         .summary = "measure this machine, then Perdure on it",
         .example = "  perdure bench --json\n"
                    "  perdure bench --scale\n"
                    "  perdure bench --scale queues idle --json\n"
                    "  perdure bench --scale after --waiting 10000000 --time-limit 900",
         .words = {{"measure", "with --scale: only these", How::any}},
         .options = {{"--quick", "", "small counts: a look, not a figure"},
                     {"--backlog", "", "also with a million jobs; takes minutes"},
                     {"--scale", "", "instead: costs that must not grow; 10 minutes"},
                     {"--waiting", "N", "with --scale: how many wait; 1000000 if left out"},
                     {"--time-limit", "SECONDS",
                      "with --scale: when a case gives up; 30 if left out"},
                     {"--keep", "", "leave the files"},
                     {"--dir", "DIR", "where to measure; /var/tmp if left out"}},
         .run = run_bench});
    all.push_back({.path = "drill",
                   .group = other_group,
                   .summary = "make every failure happen on a throw-away instance, and measure",
                   .example = "  perdure drill\n  perdure drill --only worker --only host_gone",
                   .options = {{"--list", "", "every failure with its sentence and its bound"},
                               {"--only", "NAME", "this failure; may be repeated", true},
                               {"--quick", "", "some of them, twice each"},
                               {"--runs", "N", "how often each; 5 if left out"},
                               {"--keep", "", "leave the files"},
                               {"--dir", "DIR", "where the instances live; /var/tmp if left out"}},
                   .run = run_drill});
    all.push_back({.path = "faults",
                   .group = other_group,
                   .summary = "the places at which Perdure can be told to fail",
                   .example = "  perdure faults\n"
                              "  perdure up --set debug.faults=worker.after_spawn=100%x1",
                   .run = list_faults});
    add_reference(all);
}

}  // namespace perdure::cli
