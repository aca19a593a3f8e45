#include "config/resolve.h"

#include <gtest/gtest.h>

#include <set>

#include "base/words.h"

namespace perdure::resolve_test {
namespace {

ConfigSources sources(std::string file = "") {
    ConfigSources made;
    made.host = {.host_name = "anvil", .cpus = 4, .home = "/there"};
    if (!file.empty()) made.file = ConfigFile{"perdure.toml", std::move(file)};
    return made;
}

const EffectiveSetting& effective(const Configuration& configuration, std::string_view name) {
    for (const auto& found : configuration.effective)
        if (found.setting->name == name) return found;
    ADD_FAILURE() << "no setting " << name;
    return configuration.effective.front();
}

std::string refusal(const ConfigSources& from) {
    const auto configuration = resolve(from);
    if (configuration) return "accepted";
    EXPECT_EQ(configuration.error().code, Errc::invalid);
    return configuration.error().what;
}

TEST(Resolve, has_a_default_for_everything) {
    const auto configuration = resolve(sources());
    ASSERT_TRUE(configuration) << configuration.error().what;
    EXPECT_EQ(configuration->config.worker_name, "anvil");
    EXPECT_EQ(configuration->config.worker_slots, 4U);
    EXPECT_EQ(configuration->config.data, "/there/.local/share/perdure");
    EXPECT_EQ(configuration->config.worker_state, "/there/.local/share/perdure/worker");
    EXPECT_EQ(configuration->config.worker_secrets, "/there/.local/share/perdure/job-secrets");
    EXPECT_EQ(configuration->config.worker_user, "");
    EXPECT_EQ(configuration->effective.size(), settings().size());
}

// The table repeats the numbers of core/ownership/timing.h for people; they must not drift apart.
TEST(Resolve, has_the_defaults_of_core_for_durations) {
    const auto configuration = resolve(sources());
    ASSERT_TRUE(configuration);
    const auto& made = configuration->config.timing;
    const Timing core;
    for (const auto field : {&Timing::heartbeat, &Timing::lease, &Timing::hold, &Timing::kill_grace,
                             &Timing::drain, &Timing::detach_lease, &Timing::retention,
                             &Timing::unresolved, &Timing::keep_key, &Timing::held_by_person})
        EXPECT_EQ(made.*field, core.*field);
}

TEST(Resolve, takes_flags_before_environment_before_file_before_default) {
    auto from = sources("[worker]\nslots = 7\n\n[timing]\nhold = \"1m\"\n");
    auto configuration = resolve(from);
    ASSERT_TRUE(configuration) << configuration.error().what;
    EXPECT_EQ(configuration->config.worker_slots, 7U);
    EXPECT_EQ(configuration->config.timing.hold, minutes(1));
    EXPECT_EQ(effective(*configuration, "worker.slots").origin.place, "perdure.toml:2");

    from.environment["PERDURE_WORKER_SLOTS"] = "8";
    configuration = resolve(from);
    EXPECT_EQ(configuration->config.worker_slots, 8U);
    EXPECT_EQ(effective(*configuration, "worker.slots").origin.place, "PERDURE_WORKER_SLOTS");

    from.flags.push_back({"worker.slots", "9", "--slots"});
    configuration = resolve(from);
    EXPECT_EQ(configuration->config.worker_slots, 9U);
    EXPECT_EQ(effective(*configuration, "worker.slots").origin.kind, Origin::Kind::flag);
    EXPECT_EQ(effective(*configuration, "data").origin.kind, Origin::Kind::standard);
}

TEST(Resolve, refuses_unknown_keys_with_file_line_and_suggestion) {
    EXPECT_EQ(refusal(sources("# mine\n[worker]\nslot = 3\n")),
              "perdure.toml:3: there is no setting worker.slot; did you mean worker.slots?");
    EXPECT_EQ(refusal(sources("slots = 3\n")),
              "perdure.toml:1: there is no setting slots; did you mean worker.slots?");
    EXPECT_EQ(refusal(sources("[zebra]\ncrossing = 1\n")),
              "perdure.toml:2: there is no setting zebra.crossing; `perdure config` lists all "
              "settings");
}

TEST(Resolve, names_the_first_wrong_line) {
    EXPECT_TRUE(refusal(sources("zzzzzz = 1\naaaaaa = 1\n")).starts_with("perdure.toml:1:"));
}

TEST(Resolve, refuses_wrong_types_and_ranges_with_their_line) {
    EXPECT_EQ(refusal(sources("[worker]\nslots = 0\n")),
              "perdure.toml:2: worker.slots must be a number from 1 to 10000, not \"0\"");
    EXPECT_EQ(refusal(sources("[worker]\nslots = \"many\"\n")),
              "perdure.toml:2: worker.slots must be a number from 1 to 10000, not \"many\"");
    EXPECT_EQ(refusal(sources("[timing]\nlease = 10\n")),
              "perdure.toml:2: timing.lease must be a duration from 5s to 1h, like 90s or 1h30m, "
              "not \"10\"");
    EXPECT_EQ(refusal(sources("[log]\nlevel = \"loud\"\n")),
              "perdure.toml:2: log.level must be one of debug, info, warn, error, critical, not "
              "\"loud\"");
    EXPECT_TRUE(refusal(sources("[worker]\nslots = 1.5\n")).starts_with("perdure.toml:2:"));
    EXPECT_TRUE(refusal(sources("[worker]\nqueues = [1]\n")).starts_with("perdure.toml:2:"));
    EXPECT_TRUE(refusal(sources("worker = 3\n")).starts_with("perdure.toml:1:"));
}

TEST(Resolve, refuses_a_truncated_or_foreign_file_with_its_line) {
    EXPECT_TRUE(refusal(sources("[worker]\nslots = 3\nname = \"anv"))
                    .starts_with("perdure.toml:3: this is not TOML"));
    EXPECT_TRUE(refusal(sources("{\"data\": 1}")).starts_with("perdure.toml:1: this is not TOML"));
    EXPECT_TRUE(refusal(sources(std::string("\x7f"
                                            "ELF\0\1\2",
                                            7)))
                    .starts_with("perdure.toml:1: this is not TOML"));
}

TEST(Resolve, names_the_variable_or_flag_that_is_wrong) {
    auto from = sources();
    from.environment["PERDURE_LEASE"] = "soon";
    EXPECT_TRUE(refusal(from).starts_with("PERDURE_LEASE: timing.lease must be a duration"));
    from = sources();
    from.flags.push_back({"server.listen", "here", "--listen"});
    EXPECT_EQ(refusal(from),
              "--listen: server.listen must be HOST:PORT, like 127.0.0.1:7373, not \"here\"");
    from.flags = {{"timing.leese", "9s", "--set"}};
    EXPECT_EQ(refusal(from), "--set: there is no setting timing.leese; did you mean timing.lease?");
}

TEST(Resolve, completes_a_server_that_is_only_host_and_port) {
    auto from = sources("[server]\nurls = [\"there:80\", \"unix:/run/api\"]\n");
    const auto of_file = resolve(from);
    ASSERT_TRUE(of_file) << of_file.error().what;
    EXPECT_EQ(of_file->config.servers,
              (std::vector<std::string>{"http://there:80", "unix:/run/api"}));
    from.flags.push_back({"server.urls", "127.0.0.1:7373,http://b:1", "--server"});
    const auto of_flag = resolve(from);
    ASSERT_TRUE(of_flag) << of_flag.error().what;
    EXPECT_EQ(of_flag->config.servers,
              (std::vector<std::string>{"http://127.0.0.1:7373", "http://b:1"}));
    from.flags = {{"server.urls", "there", "--server"}};
    EXPECT_NE(refusal(from), "accepted");
}

TEST(Resolve, refuses_a_kind_that_a_worker_cannot_run_and_variables_that_are_none) {
    EXPECT_TRUE(refusal(sources("[worker]\nkinds = [\"commands\", \"mail.send\"]\n"))
                    .starts_with("perdure.toml:2: worker.kinds = commands,mail.send: a worker "
                                 "cannot run jobs of kind `mail.send`; it can: commands, "));
    EXPECT_EQ(refusal(sources("[worker]\nkinds = [\"commands\"]\n")), "accepted");
    EXPECT_EQ(refusal(sources("[worker]\nenv = [\"A_1=x y\", \"SSH_AUTH_SOCK\"]\n")), "accepted");
    for (const auto* wrong : {"1A=x", "=x", "A B=x", "PERDURE_JOB=x", "A=1,B=2"})
        EXPECT_NE(refusal(sources("[worker]\nenv = [\"" + std::string(wrong) + "\", \"C\"]\n")),
                  "accepted")
            << wrong;
    EXPECT_NE(refusal(sources("[worker]\ntenants = []\n")), "accepted");
}

TEST(Resolve, warns_about_variables_that_mean_nothing) {
    auto from = sources();
    from.environment["PERDURE_LISTENS"] = "x";
    from.environment["PERDURE_SOCKET"] = "known to jobs";
    from.environment["PERDURE_ALIVE_EVERY"] = "15000000";
    from.environment["PERDURE_DIED_AT"] = "known to a child that was started again";
    const auto configuration = resolve(from);
    ASSERT_TRUE(configuration);
    ASSERT_EQ(configuration->warnings.size(), 1U);
    EXPECT_EQ(configuration->warnings[0],
              "PERDURE_LISTENS is set and means nothing; did you mean PERDURE_LISTEN?");
}

TEST(Profile, changes_defaults_and_nothing_else) {
    const auto plain = resolve(sources());
    const auto production = resolve(sources("profile = \"production\"\n"));
    ASSERT_TRUE(plain && production);
    EXPECT_EQ(production->config.data, "/var/lib/perdure");
    EXPECT_EQ(production->config.log_format, LogFormat::json);
    EXPECT_EQ(plain->config.log_format, LogFormat::logfmt);
    const auto chosen = resolve(sources("profile = \"production\"\n[log]\nformat = \"logfmt\"\n"));
    EXPECT_EQ(chosen->config.log_format, LogFormat::logfmt);
}

TEST(Profile, production_refuses_what_does_not_last) {
    EXPECT_TRUE(refusal(sources("profile = \"production\"\ndata = \"/tmp/x\"\n"))
                    .starts_with("perdure.toml:2: data = /tmp/x: temporary directories"));
    EXPECT_NE(refusal(sources("profile = \"production\"\n[worker]\nstate = \"/dev/shm\"\n")),
              "accepted");
    EXPECT_EQ(refusal(sources("profile = \"production\"\ndata = \"/tmpfiles\"\n")), "accepted");
    EXPECT_EQ(refusal(sources("data = \"/tmp/x\"\n")), "accepted");
}

TEST(Profile, production_refuses_fault_injection) {
    auto from = sources("profile = \"production\"\n");
    from.environment["PERDURE_FAULTS"] = "store.full=5%";
    EXPECT_TRUE(refusal(from).starts_with("PERDURE_FAULTS: debug.faults = store.full=5%: faults"));
    auto allowed = sources("profile = \"production\"\n[debug]\nallow_faults = true\n");
    allowed.environment = from.environment;
    EXPECT_EQ(refusal(allowed), "accepted");
}

TEST(Together, only_fault_points_that_exist_are_armed) {
    EXPECT_EQ(refusal(sources("[debug]\nfaults = \"shim.exec_fails=50%x2,store.full\"\n")),
              "accepted");
    EXPECT_EQ(refusal(sources("[debug]\nfaults = [\"shim.fails\"]\n")),
              "perdure.toml:2: debug.faults = shim.fails: there is no fault point `shim.fails`; "
              "`perdure faults` lists them");
}

TEST(Resolve, takes_true_and_false_only_where_they_mean_something) {
    EXPECT_TRUE(refusal(sources("data = true\n")).starts_with("perdure.toml:1: data must be"));
    EXPECT_EQ(refusal(sources("[debug]\nallow_faults = false\n")), "accepted");
}

TEST(Together, a_lease_outlasts_four_heartbeats) {
    EXPECT_TRUE(refusal(sources("[timing]\nlease = \"7s\"\n"))
                    .starts_with("perdure.toml:2: timing.lease = 7s: it must be at least"));
    EXPECT_NE(refusal(sources("[timing]\nheartbeat = \"10s\"\nlease = \"50s\"\n")), "accepted");
}

TEST(Together, only_loopback_is_served_without_tls) {
    EXPECT_TRUE(refusal(sources("[server]\nlisten = \"0.0.0.0:7373\"\n"))
                    .starts_with("perdure.toml:2: server.listen = 0.0.0.0:7373: only loopback"));
}

TEST(Resolve, says_what_is_missing_when_there_is_no_home) {
    auto from = sources();
    from.host.home.clear();
    EXPECT_TRUE(refusal(from).starts_with("data is ~/.local/share/perdure, and HOME is not set"));
    from.flags.push_back({"data", "here", "--data"});
    EXPECT_EQ(refusal(from), "accepted");
}

// A child process is given flags, so that a file changed meanwhile changes nothing under it.
TEST(AsFlags, give_a_child_the_same_configuration_whatever_else_there_is) {
    const auto first = resolve(sources("data = \"/d\"\n[worker]\nqueues = [\"a\", \"b\"]\n"));
    ASSERT_TRUE(first);
    auto child = sources("data = \"/other\"\n");
    child.environment["PERDURE_WORKER_QUEUES"] = "c";
    const auto flags = as_flags(*first);
    for (std::size_t i = 1; i < flags.size(); i += 2) {
        const auto given = parse_set(flags[i]);
        ASSERT_TRUE(given);
        child.flags.push_back(*given);
    }
    const auto second = resolve(child);
    ASSERT_TRUE(second) << second.error().what;
    for (std::size_t i = 0; i < first->effective.size(); ++i)
        EXPECT_EQ(first->effective[i].value, second->effective[i].value)
            << first->effective[i].setting->name;
}

TEST(Settings, have_names_variables_and_flags_of_their_own) {
    std::set<std::string_view> seen;
    for (const auto& setting : settings()) {
        EXPECT_TRUE(seen.insert(setting.name).second) << setting.name;
        EXPECT_TRUE(seen.insert(setting.environment).second) << setting.environment;
        EXPECT_TRUE(setting.environment.starts_with("PERDURE_"));
        EXPECT_TRUE(setting.flag.empty() || seen.insert(setting.flag).second) << setting.flag;
        EXPECT_NE(setting.store, nullptr);
        EXPECT_FALSE(setting.about.empty());
    }
}

TEST(Candidates, look_here_first_then_at_home_then_in_etc) {
    EXPECT_EQ(file_candidates({{"HOME", "/h"}}),
              (std::vector<std::string>{"perdure.toml", "/h/.config/perdure/perdure.toml",
                                        "/etc/perdure/perdure.toml"}));
    EXPECT_EQ(file_candidates({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}})[1],
              "/x/perdure/perdure.toml");
}

constexpr auto patient = R"([policies.patient]
base = "never"
rules = [
  { causes = ["exit"], exit_codes = [75], times = 3, wait = "5s" },
  { causes = ["crash"], times = 1, then = "quarantine" },
]

[queues.slow]
policy = "patient"

[kinds."mail.send"]
policy = "forever"

[workers.gpu-7]
policy = "patient"

[workers."Anvil.example.com"]
policy = "never"
)";

// They survive as flags, which is how the watchdog passes them on.
TEST(ResolveWeights, come_from_the_file_and_from_flags) {
    const auto first =
        resolve(sources("[queues.mail]\nweight = 5\n[queues.bulk]\nweight = 1000\n"));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->config.weights.of("mail"), 5U);
    EXPECT_EQ(first->config.weights.of("bulk"), 1'000U);
    EXPECT_EQ(first->config.weights.of("other"), 1U);
    ConfigSources again;
    const auto flags = as_flags(*first);
    for (std::size_t i = 1; i < flags.size(); i += 2) again.flags.push_back(*parse_set(flags[i]));
    const auto second = resolve(again);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->config.weights.of_queue, first->config.weights.of_queue);
}

TEST(ResolvePolicies, reads_policies_and_where_they_apply) {
    const auto configuration = resolve(sources(std::string("policy = \"never\"\n") + patient));
    ASSERT_TRUE(configuration) << configuration.error().what;
    const auto& book = configuration->config.policies;
    ASSERT_TRUE(book.named.contains("patient"));
    const auto& policy = book.named.at("patient");
    EXPECT_EQ(policy.name, PolicyName::never);
    ASSERT_EQ(policy.rules.size(), 2U);
    EXPECT_EQ(policy.rules[0].exit_codes, std::vector<std::int32_t>{75});
    EXPECT_EQ(policy.rules[0].wait, seconds(5));
    EXPECT_EQ(policy.rules[1].then, LastResort::quarantine);
    EXPECT_EQ(book.of_queue.at("slow"), "patient");
    EXPECT_EQ(book.of_kind.at("mail.send"), "forever");
    EXPECT_EQ(book.of_worker.at("gpu-7"), "patient");
    EXPECT_EQ(book.of_worker.at("Anvil.example.com"), "never") << "called as its host is";
    EXPECT_EQ(book.of_server, "never");
}

// The server is a child that gets everything as flags.
TEST(ResolvePolicies, survive_the_way_to_the_child) {
    const auto first = resolve(sources(patient));
    ASSERT_TRUE(first) << first.error().what;
    auto again = sources();
    const auto flags = as_flags(*first);
    for (std::size_t i = 1; i < flags.size(); i += 2) again.flags.push_back(*parse_set(flags[i]));
    const auto second = resolve(again);
    ASSERT_TRUE(second) << second.error().what;
    EXPECT_EQ(second->config.policies.named, first->config.policies.named);
    EXPECT_EQ(second->config.policies.of_queue, first->config.policies.of_queue);
    EXPECT_EQ(second->config.policies.of_kind, first->config.policies.of_kind);
    EXPECT_EQ(second->config.policies.of_worker, first->config.policies.of_worker);
}

TEST(ResolvePolicies, takes_tables_of_rules_as_well_as_lists) {
    const auto configuration =
        resolve(sources("[policies.p]\n[[policies.p.rules]]\ncauses = [\"oom\"]\ntimes = 2\n"));
    ASSERT_TRUE(configuration) << configuration.error().what;
    EXPECT_EQ(configuration->config.policies.named.at("p").rules.front().times, 2U);
}

TEST(ResolvePolicies, refuses_what_is_wrong_with_its_line) {
    const std::pair<const char*, const char*> table[] = {
        {"[policies.p]\nrules = [\n  { causes = [\"exit\"] },\n  { causes = [\"crush\"] },\n]\n",
         "perdure.toml:4: policies.p.rules[1].causes[0]: there is no cause \"crush\"; did you mean "
         "crash?"},
        {"[policies.p]\nrules = [{}, {}]\n",
         "perdure.toml:2: policies.p.rules[1]: this rule can never apply: rules[0] is asked first "
         "and "
         "judges all that it could; put it before that one, or leave it out"},
        {"[policies.p]\nbase = \"nevr\"\n",
         "perdure.toml:2: policies.p.base must be default, never or forever, not \"nevr\""},
        {"[policies.p]\nruls = []\n",
         "perdure.toml:2: there is no setting policies.p.ruls; did you mean policies.p.rules?"},
        {"[policies.never]\nrules = []\n",
         "perdure.toml:2: never is built in and stays as it is; choose another name"},
        {"[queues.slow]\nweight = 0\n",
         "perdure.toml:2: queues.slow.weight must be a whole number from 1 to 1000, not 0"},
        {"[queues.slow]\nweight = 1001\n",
         "perdure.toml:2: queues.slow.weight must be a whole number from 1 to 1000, not 1001"},
        {"[queues.slow]\nweight = \"3x\"\n",
         "perdure.toml:2: queues.slow.weight must be a whole number from 1 to 1000, not 3x"},
        {"[queues.slow]\nweigth = 3\n",
         "perdure.toml:2: there is no setting queues.slow.weigth; did you mean "
         "queues.slow.weight?"},
        {"[kinds.slow]\nweight = 3\n",
         "perdure.toml:2: there is no setting kinds.slow.weight; did you mean kinds.slow.policy?"},
        {"[queues.slow]\npolicy = \"nevr\"\n",
         "perdure.toml:2: there is no policy \"nevr\"; did you mean never?"},
        {"[queues.slow]\npolcy = \"never\"\n",
         "perdure.toml:2: there is no setting queues.slow.polcy; did you mean queues.slow.policy?"},
        {"[workers.gpu-7]\n\npolicy = \"nevr\"\n",
         "perdure.toml:3: there is no policy \"nevr\"; did you mean never?"},
        {"[workers]\ngpu-7 = \"never\"\n",
         "perdure.toml:2: there is no setting workers.gpu-7; did you mean workers.gpu-7.policy?"},
        {"[workers.\"a b\"]\npolicy = \"never\"\n",
         "perdure.toml:2: \"a b\" is no name of a worker: 1 to 255 bytes without spaces and ="},
        {"policy = \"nevr\"\n", "perdure.toml:1: there is no policy \"nevr\"; did you mean never?"},
        {"[kinds.\"Not A Name\"]\npolicy = \"never\"\n",
         "perdure.toml:2: Not A Name must be 1 to 64 of a-z 0-9 . _ - and begin with a letter or "
         "digit"},
    };
    for (const auto& [file, expected] : table) EXPECT_EQ(refusal(sources(file)), expected);
}

}  // namespace
}  // namespace perdure::resolve_test
