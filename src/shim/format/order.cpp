#include "shim/format/order.h"

#include "shim/format/records.h"

namespace perdure {
namespace {

constexpr std::string_view version = "1";
constexpr std::string_view name_record = "name";
constexpr std::string_view value_record = "value";

// The rules that can stand in an attempt's terms: a string_view must point to something that stays.
std::string_view known_rule(std::string_view rule) {
    for (const std::string_view known : {"O7/exclusive", "O7/once", "O7/fenced"})
        if (rule == known) return known;
    return "O7/unknown_rule";
}

std::optional<Effects> effects_named(std::string_view name) {
    for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
        if (to_string(effects) == name) return effects;
    return std::nullopt;
}

// "UID GID", and a number for each further group.
std::string to_text(const Credentials& who) {
    auto text = std::to_string(who.uid) + " " + std::to_string(who.gid);
    for (const auto group : who.groups) text += " " + std::to_string(group);
    return text;
}

std::optional<Credentials> credentials_in(std::string_view text) {
    std::vector<std::uint32_t> numbers;
    while (true) {
        const auto space = std::min(text.find(' '), text.size());
        const auto number = number_in<std::uint32_t>(text.substr(0, space));
        if (!number) return std::nullopt;
        numbers.push_back(*number);
        if (space == text.size()) break;
        text.remove_prefix(space + 1);
    }
    if (numbers.size() < 2) return std::nullopt;
    return Credentials{
        .uid = numbers[0], .gid = numbers[1], .groups = {numbers.begin() + 2, numbers.end()}};
}

PolicyName policy_named(std::string_view name) {
    for (const auto policy : {PolicyName::never, PolicyName::forever})
        if (to_string(policy) == name) return policy;
    return PolicyName::default_;
}

std::optional<Isolation> isolation_named(std::string_view name) {
    for (const auto isolation : {Isolation::fenced, Isolation::exclusive})
        if (to_string(isolation) == name) return isolation;
    return std::nullopt;
}

template <class Target, class Value>
bool put(Target& target, const std::optional<Value>& value) {
    if (value) target = *value;
    return value.has_value();
}

bool put(Duration& target, std::string_view bytes) {
    return put(target.us, number_in<std::int64_t>(bytes));
}

// What one record sets; false: its content cannot be understood.
class OrderParser {
public:
    bool take(const Record& r) {
        if (const auto done = take_identity(r)) return *done;
        if (const auto done = take_terms(r)) return *done;
        if (const auto done = take_command(r)) return *done;
        return true;  // of a later version
    }
    // All that must be there, and the last record.
    bool complete() const {
        return is_our_version_ && ended_ && order_.attempt.job && order_.attempt.epoch.value > 0 &&
               !order_.argv.empty() && order_.directory.starts_with('/');
    }
    Order order() { return std::move(order_); }

private:
    std::optional<bool> take_identity(const Record& r) {
        if (r.name == "perdure_order") return is_our_version_ = r.bytes == version;
        if (r.name == "end") return ended_ = true;
        if (r.name == "job") return put(order_.attempt.job, JobId::parse(r.bytes));
        if (r.name == "epoch")
            return put(order_.attempt.epoch.value, number_in<std::uint32_t>(r.bytes));
        if (r.name == "assignment")
            return put(order_.assignment, number_in<std::uint64_t>(r.bytes));
        if (r.name == "life") return put(order_.life, number_in<std::uint64_t>(r.bytes));
        if (r.name == "policy") return order_.policy = policy_named(r.bytes), true;
        if (r.name == "boot") return order_.boot = r.bytes, true;
        if (r.name == "host") return order_.host = r.bytes, true;
        if (r.name == "directory") return order_.directory = r.bytes, true;
        if (r.name == "cgroup") return order_.cgroup = r.bytes, true;
        if (r.name == "join") return order_.joins.emplace_back(r.bytes), true;
        if (r.name == "oom_counter") return order_.oom_counter = r.bytes, true;
        return std::nullopt;
    }
    std::optional<bool> take_terms(const Record& r) {
        auto& terms = order_.terms;
        if (r.name == "isolation") return put(terms.isolation, isolation_named(r.bytes));
        if (r.name == "effects") return put(terms.effects, effects_named(r.bytes));
        if (r.name == "asks") return terms.asks = r.bytes == "1", true;
        if (r.name == "hold") return put(terms.hold, r.bytes);
        if (r.name == "release_after") return put(terms.release_after, r.bytes);
        if (r.name == "rule") return terms.rule = known_rule(r.bytes), true;
        if (r.name == "kill_margin") return put(order_.timing.kill_margin, r.bytes);
        if (r.name == "worker_silence") return put(order_.timing.worker_silence, r.bytes);
        if (r.name == "kill_grace") return put(order_.timing.kill_grace, r.bytes);
        return std::nullopt;
    }
    std::optional<bool> take_command(const Record& r) {
        if (r.name == "arg") return order_.argv.emplace_back(r.bytes), true;
        if (r.name == "env") return take_env(r.bytes);
        if (r.name == "secret") return order_.secrets.emplace_back(r.bytes, ""), true;
        if (r.name == "cwd") return order_.cwd = r.bytes, true;
        if (r.name == "become") return put(order_.become, credentials_in(r.bytes));
        if (r.name == "output_max")
            return put(order_.output_max, number_in<std::uint64_t>(r.bytes));
        if (r.name == "run_timeout") return put(order_.run_timeout, r.bytes);
        if (r.name == "idle_timeout") return put(order_.idle_timeout.emplace(), r.bytes);
        if (r.name == "fault") return order_.faults.emplace_back(r.bytes), true;
        return std::nullopt;
    }
    bool take_env(std::string_view pair) {
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos || equals == 0) return false;
        order_.env.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
        return true;
    }

    Order order_;
    bool is_our_version_ = false;
    bool ended_ = false;
};

void append_terms(std::string& text, const Terms& terms, const Timing& timing) {
    append_record(text, "isolation", to_string(terms.isolation));
    append_record(text, "effects", to_string(terms.effects));
    append_record(text, "asks", std::int64_t{terms.asks});
    append_record(text, "hold", terms.hold.us);
    append_record(text, "release_after", terms.release_after.us);
    append_record(text, "rule", terms.rule);
    append_record(text, "kill_margin", timing.kill_margin.us);
    append_record(text, "worker_silence", timing.worker_silence.us);
    append_record(text, "kill_grace", timing.kill_grace.us);
}

}  // namespace

std::string to_text(const Order& order) {
    std::string text;
    append_record(text, "perdure_order", version);
    append_record(text, "job", order.attempt.job.text());
    append_record(text, "epoch", std::int64_t{order.attempt.epoch.value});
    append_record(text, "assignment", std::to_string(order.assignment));
    append_record(text, "life", std::to_string(order.life));
    append_record(text, "policy", to_string(order.policy));
    append_record(text, "boot", order.boot);
    append_record(text, "host", order.host);
    append_record(text, "directory", order.directory);
    append_record(text, "cgroup", order.cgroup);
    for (const auto& path : order.joins) append_record(text, "join", path);
    append_record(text, "oom_counter", order.oom_counter);
    append_terms(text, order.terms, order.timing);
    for (const auto& arg : order.argv) append_record(text, "arg", arg);
    for (const auto& [name, value] : order.env) append_record(text, "env", name + "=" + value);
    for (const auto& [name, value] : order.secrets) append_record(text, "secret", name);
    append_record(text, "cwd", order.cwd);
    if (order.become) append_record(text, "become", to_text(*order.become));
    append_record(text, "output_max", std::to_string(order.output_max));
    append_record(text, "run_timeout", order.run_timeout.us);
    if (order.idle_timeout) append_record(text, "idle_timeout", order.idle_timeout->us);
    for (const auto& fault : order.faults) append_record(text, "fault", fault);
    append_record(text, "end", "");
    return text;
}

Result<Order> parse_order(std::string_view text) {
    OrderParser parser;
    RecordReader reader(text);
    while (const auto record = reader.next())
        if (!parser.take(*record))
            return error(Errc::corrupt, "order: bad `" + std::string(record->name) + "`");
    if (reader.corrupt() || reader.consumed() != text.size() || !parser.complete())
        return error(Errc::corrupt, "order: cut short or not an order");
    return parser.order();
}

std::string secrets_text(const Order& order) {
    std::string text;
    for (const auto& [name, value] : order.secrets) {
        append_record(text, name_record, name);
        append_record(text, value_record, value);
    }
    return text;
}

Result<void> take_secrets(Order& order, std::string_view text) {
    const auto bad = error(Errc::corrupt, "the order's secrets did not arrive");
    RecordReader reader(text);
    for (auto& [name, value] : order.secrets) {
        const auto its_name = reader.next();
        const auto its_value = its_name ? reader.next() : std::nullopt;
        if (!its_value || its_name->bytes != name || its_value->name != value_record) return bad;
        value = its_value->bytes;
    }
    if (reader.corrupt() || reader.consumed() != text.size()) return bad;
    for (auto& [name, value] : order.secrets) {
        std::erase_if(order.env, [&](const auto& set) { return set.first == name; });
        order.env.emplace_back(name, std::move(value));
    }
    return {};
}

}  // namespace perdure
