// perdure config [--example]
// The effective value of every setting, and where it came from; or a file to begin with.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/local/local_commands.h"
#include "cli/table.h"
#include "config/example_file.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr std::size_t value_shown = 60;  // of a policy; --json has it whole

boost::json::value as_json(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return boost::json::value(*text);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    if (const auto* duration = std::get_if<Duration>(&value))
        return boost::json::value(duration_text(*duration));
    boost::json::array words;
    for (const auto& word : std::get<std::vector<std::string>>(value)) words.emplace_back(word);
    return words;
}

ExitCode print_json(Context& context) {
    boost::json::object settings;
    for (const auto& effective : context.configuration.effective) {
        boost::json::object each;
        each["value"] = as_json(effective.value);
        each["from"] = std::string(to_string(effective.origin.kind));
        if (!effective.origin.place.empty()) each["place"] = effective.origin.place;
        settings[std::string(effective.setting->name)] = std::move(each);
    }
    boost::json::object document;
    for (const auto& named : context.configuration.named) {
        boost::json::object each;
        each["value"] = named.value;
        each["from"] = std::string(to_string(named.origin.kind));
        each["place"] = named.origin.place;
        settings[named.name] = std::move(each);
    }
    document["settings"] = std::move(settings);
    context.term.print(boost::json::value(std::move(document)));
    return ExitCode::ok;
}

Cell origin_cell(const Origin& origin) {
    if (origin.kind == Origin::Kind::standard) return Cell("default", Colour::dim);
    return Cell(origin.place, Colour::bold);
}

}  // namespace

ExitCode show_config(Context& context) {
    if (context.args.flag("example")) {
        if (context.json())
            context.term.print(boost::json::object{{"example", example_file()}});
        else
            context.term.out(example_file());
        return ExitCode::ok;
    }
    if (context.json()) return print_json(context);
    Table table({"SETTING", "VALUE", "FROM", "MEANING"});
    for (const auto& effective : context.configuration.effective)
        table.add({std::string(effective.setting->name), value_text(effective.value),
                   origin_cell(effective.origin), std::string(effective.setting->about)});
    for (const auto& named : context.configuration.named)
        table.add({named.name, fitted(named.value, value_shown), origin_cell(named.origin), ""});
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

}  // namespace perdure::cli
