#include "app/perdure/worker_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <filesystem>
#include <memory>

#include "app/perdure/access.h"
#include "app/perdure/armed_faults.h"
#include "app/perdure/log_output.h"
#include "app/perdure/refusal.h"
#include "client/http_server_api.h"
#include "core/worker/kinds.h"
#include "platform/asio_clock.h"
#include "platform/entropy.h"
#include "processes/accounts.h"
#include "processes/host_processes.h"
#include "processes/in_process_kinds.h"
#include "webhook/webhooks.h"
#include "wire/text_time.h"
#include "worker/worker.h"

namespace perdure {
namespace {

constexpr auto idle_wait_of_process = hours(24);  // the worker rings for everything new

constexpr std::string_view by_submitter = "submitter";  // worker.user

// Where the build has it, beside our own program, or where it is installed. A path that an upgrade
// has replaced ends in " (deleted)", but its folder is right.
std::string shim_path() {
    std::error_code failed;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
    const auto beside = folder / "perdure-shim";
    if (std::filesystem::exists(beside, failed)) return beside.string();
    return (folder.parent_path() / PERDURE_LIBEXECDIR / "perdure-shim").string();
}

// Commands of a job find the program that speaks to its server, behind all others of that name.
std::string path_of_jobs(const std::string& path) {
    std::error_code failed;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
    const auto listed = ":" + path + ":";
    if (failed || listed.find(":" + folder.string() + ":") != std::string::npos) return path;
    return path + ":" + folder.string();
}

// "NAME=VALUE", or "NAME" for our own value: nothing if we have none.
std::vector<std::pair<std::string, std::string>> variables_of_jobs(
    const std::vector<std::string>& listed) {
    std::vector<std::pair<std::string, std::string>> variables;
    for (const auto& text : listed) {
        const auto equals = text.find('=');
        if (equals != std::string::npos)
            variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        else if (const char* own = ::getenv(text.c_str()))
            variables.emplace_back(text, own);
    }
    return variables;
}

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

class WorkerProcess {
public:
    WorkerProcess(const Config& config, const ProcessSurroundings& around, LogOutput& output)
        : config_(config),
          output_(output),
          died_at_(around.died_at),
          clock_(context_),
          signals_(context_, SIGTERM, SIGINT, SIGHUP),
          watched_(context_, around.watchdog) {
        signals_.add(SIGUSR1);
    }

    ExitCode run() {
        // What shims leave behind when they die comes to us (L2).
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        const auto log = output_.log("worker");
        arm_configured_faults(config_, config_.worker_state + "/faults.worker", log);
        auto credentials = read_credentials(config_);
        if (!credentials) return refuse(credentials.error());
        auto servers =
            HttpServerApi::make(clock_, config_.servers, config_.timing.call_timeout, *credentials);
        if (!servers) return refuse(servers.error());
        servers_ = std::move(*servers);
        auto options = host_options();
        if (!options) return refuse(options.error());
        host_ = std::make_unique<HostProcesses>(clock_.executor(), std::move(*options), log);
        webhooks_ = std::make_unique<Webhooks>(clock_, webhook_options());
        kinds_ = std::make_unique<InProcessKinds>(
            *host_, clock_, config_.timing,
            InProcessKinds::Others{{std::string(webhook_kind), webhooks_.get()}});
        worker_ = std::make_unique<Worker>(WorkerPorts{clock_, random_, *servers_, *kinds_},
                                           WorkerOptions{.name = config_.worker_name,
                                                         .slots = config_.worker_slots,
                                                         .offer = offer(),
                                                         .timing = config_.timing,
                                                         .died_at = died_at_},
                                           log);
        worker_->rings(*news_);
        worker_->start();
        watched_.end_with_watchdog();
        follow_signals();
        boost::asio::co_spawn(context_, follow_worker(), boost::asio::detached);
        context_.run();
        if (const auto& failure = worker_->failure()) return refuse(*failure);
        return ExitCode::ok;
    }

private:
    Offer offer() const {
        const auto& tenants = config_.worker_tenants;
        return {.tenant = tenants.front(),
                .queues = config_.worker_queues,
                .kinds = *choose_kinds(config_.worker_kinds),  // the configuration was checked
                .takes_from = takes_from(),
                .other_tenants = {tenants.begin() + 1, tenants.end()}};
    }

    Result<HostOptions> host_options() const {
        HostOptions options{.directory = config_.worker_state,
                            .shim = shim_path(),
                            .host = host_name(),
                            .path = path_of_jobs(config_.worker_path),
                            .servers = fmt::format("{}", fmt::join(config_.servers, ",")),
                            .env = variables_of_jobs(config_.worker_env),
                            .secrets = config_.worker_secrets,
                            .cgroup = config_.worker_cgroup,
                            .timing = config_.timing};
        if (config_.worker_user == by_submitter) {
            if (auto may = check_may_become_submitters(); !may) return may.error();
            options.as_submitter = true;
            options.root_submitters = config_.worker_root_submitters;
            options.account = own_account();
            return options;
        }
        auto other = find_job_user(config_.worker_user);
        if (!other) return other.error();
        if (*other) options.become = (*other)->credentials;
        options.account = *other ? std::move(**other) : own_account();
        return options;
    }

    WebhookOptions webhook_options() const {
        WebhookOptions options{.secrets = config_.webhook_secrets, .host = host_name()};
        for (const auto& text : config_.webhook_allow_private)
            if (const auto network = parse_network(text)) options.allow_private.push_back(*network);
        return options;
    }

    TakesFrom takes_from() const {
        if (config_.worker_user != by_submitter) return TakesFrom::anybody;
        return config_.worker_root_submitters ? TakesFrom::accounts_and_root : TakesFrom::accounts;
    }

    std::string as_whom() const {
        if (config_.worker_user == by_submitter) return "; each job runs as whoever submitted it";
        return config_.worker_user.empty() ? "" : "; jobs run as " + config_.worker_user;
    }

    Task<void> follow_worker() {
        bool announced = false;
        while (!worker_->finished()) {
            if (!announced && worker_->session().is_open()) {
                announced = true;
                watched_.ready(fmt::format("{} with {} slots; {}{}", config_.worker_name,
                                           config_.worker_slots, host_->containment_text(),
                                           as_whom()));
            }
            co_await news_->wait(idle_wait_of_process);
        }
        context_.stop();
    }

    void follow_signals() {
        signals_.async_wait([this](boost::system::error_code failed, int signal) {
            if (failed) return;
            if (signal == SIGHUP) {
                output_.reopen();
            } else if (signal == SIGUSR1) {
                worker_->detach();
            } else {
                stop_harder();
            }
            follow_signals();
        });
    }

    // The first signal: what runs gets its time. The second: it is left to the next worker here.
    void stop_harder() {
        ++stop_signals_;
        const auto running = worker_->attempts().size();
        if (stop_signals_ == 1) {
            if (running > 0)
                say(
                    fmt::format("{} running job{}: up to {} to end; once more (Ctrl-C) leaves {} "
                                "running for the next start",
                                running, running == 1 ? "" : "s",
                                duration_text(config_.timing.drain), running == 1 ? "it" : "them"));
            return worker_->drain();
        }
        if (stop_signals_ > 2) return context_.stop();
        if (running > 0)
            say(fmt::format("left running for the next start, within {}: {} job{}",
                            duration_text(config_.timing.detach_lease), running,
                            running == 1 ? "" : "s"));
        worker_->detach();
    }

    static void say(const std::string& sentence) {
        const auto line = "perdure: " + sentence + "\n";
        // One write: others use the same terminal.
        (void)!::write(STDERR_FILENO, line.data(), line.size());
    }

    const Config& config_;
    LogOutput& output_;
    std::optional<BootTime> died_at_;
    boost::asio::io_context context_{1};
    AsioClock clock_;
    Entropy random_;
    boost::asio::signal_set signals_;
    Watched watched_;
    std::unique_ptr<HttpServerApi> servers_;
    std::unique_ptr<HostProcesses> host_;
    std::unique_ptr<Webhooks> webhooks_;
    std::unique_ptr<InProcessKinds> kinds_;
    std::unique_ptr<Alarm> news_ = clock_.make_alarm();
    std::unique_ptr<Worker> worker_;
    int stop_signals_ = 0;
};

}  // namespace

ExitCode run_worker(const Config& config, const ProcessSurroundings& around) {
    auto output = LogOutput::open(config);
    if (!output) return refuse(output.error());
    // Never destroyed, for the reason that the server's process has.
    auto* process = new WorkerProcess(config, around, **output);
    const auto code = process->run();
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
}

}  // namespace perdure
