#include "app/perdure/server_process.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <memory>

#include "api/api_server.h"
#include "app/perdure/access.h"
#include "app/perdure/armed_faults.h"
#include "app/perdure/log_output.h"
#include "app/perdure/refusal.h"
#include "app/perdure/stores.h"
#include "platform/asio_clock.h"
#include "platform/audit_file.h"
#include "platform/entropy.h"
#include "platform/local_token.h"
#include "platform/process_metrics.h"
#include "platform/socket_peer.h"
#include "platform/system_time.h"
#include "platform/token_file.h"
#include "server/server.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/disk_space.h"

// Of tcmalloc, where that is linked.
extern "C" [[gnu::weak]] void MallocExtension_ReleaseFreeMemory();

namespace perdure {
namespace {

constexpr auto patience_with_requests = seconds(5);
constexpr auto poll_interval = milliseconds(10);  // only while it stops

// A server may have 10,000 idle connections; the soft limit is usually 1,024.
void allow_many_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void release_free_memory() {
    if (MallocExtension_ReleaseFreeMemory)
        MallocExtension_ReleaseFreeMemory();
    else
        ::malloc_trim(0);
}

std::string reads_only(const std::string& copied) {
    return "this is a copy of " + copied +
           ": nothing in it runs or changes, because that instance may live. If it is gone for "
           "good, restore the backup into a new directory with --take-over";
}

ApiOptions api_options(const Config& config, const ProcessSurroundings& around) {
    const auto colon = config.listen.rfind(':');
    ApiOptions options{.version = around.version,
                       .store = config.is_on_postgres() ? "postgres" : "sqlite",
                       .timing = config.timing};
    options.bytes_in_flight = config.bytes_in_flight;
    options.release_memory = release_free_memory;
    options.append_metrics = append_process_metrics;
    options.address = config.listen.substr(0, colon);
    options.port = static_cast<std::uint16_t>(std::stoul(config.listen.substr(colon + 1)));
    if (options.address.starts_with('[') && options.address.ends_with(']'))
        options.address = options.address.substr(1, options.address.size() - 2);
    return options;
}

// Everything that a server is made of, in the order in which it is made.
class ServerProcess {
public:
    ServerProcess(const Config& config, const ProcessSurroundings& around, LogOutput& output)
        : config_(config),
          output_(output),
          clock_(context_),
          signals_(context_, SIGTERM, SIGINT, SIGHUP),
          watched_(context_, around.watchdog),
          options_(api_options(config, around)),
          space_(config.data) {}

    ExitCode run() {
        allow_many_descriptors();
        auto directory = DataDirectory::open(config_.data);
        if (!directory) return refuse(directory.error());
        data_ = directory->path();
        for (const auto& note : directory->notes())
            output_.log("server").write(Level::warn, "the data directory was readable", "what",
                                        note);
        arm_configured_faults(config_, data_ + "/faults.server", output_.log("server"));
        if (auto opened = open(); !opened) return refuse(opened.error());
        const auto log = output_.log("server");
        server_ = std::make_unique<Server>(
            ServerPorts{.store = *stores_.store,
                        .clock = clock_,
                        .random = random_,
                        .fatal = [this](std::string why) { die(std::move(why)); },
                        .blobs = stores_.blobs.get()},
            config_.timing, log);
        server_->use(config_.policies);
        server_->failures().use({config_.failure_level, config_.callback_failure_level});
        options_.damage = stores_.damage;
        options_.backups = stores_.backups.get();
        if (!config_.is_on_postgres()) options_.space = &space_;
        options_.space_reserve = config_.space_reserve;
        if (const auto& copied = stores_.copy_of) options_.reads_only = reads_only(*copied);
        if (auto opened = open_access(); !opened) return refuse(opened.error());
        api_ = std::make_unique<ApiServer>(*server_, *stores_.catalogue, *stores_.blobs, clock_,
                                           log, options_);
        if (auto listening = api_->listen(); !listening) return refuse(listening.error());
        server_->rings(*opened_);
        if (options_.reads_only.empty()) server_->start();
        watched_.end_with_watchdog();
        follow_signals();
        boost::asio::co_spawn(context_, announce(), boost::asio::detached);
        context_.run();
        // Nothing runs that could ask them. Everything is in the files afterwards.
        stores_.close();
        audit_.reset();
        return code_;
    }

private:
    Result<void> open() {
        const auto fatal = [this](const Error& why) {
            boost::asio::post(context_, [this, what = why.what] { die(what); });
        };
        auto opened = open_stores(config_, data_, output_.log("server"), fatal);
        if (!opened) return opened.error();
        stores_ = std::move(*opened);
        return {};
    }

    Result<void> open_access() {
        auto access = read_access(config_);
        if (!access) return access.error();
        auto tokens = TokenFile::open(data_, random_);
        if (!tokens) return tokens.error();
        tokens_ = std::move(*tokens);
        if (auto kept = keep_local_token(data_, *tokens_, !peers_.can_tell(), wall_now()); !kept)
            return kept.error();
        auto audit = AuditFile::open(data_, output_.log("audit"));
        if (!audit) return audit.error();
        audit_ = std::move(*audit);
        access->peers = &peers_;
        access->tokens = tokens_.get();
        access->audit = audit_.get();
        options_.access = std::move(*access);
        options_.socket = data_;
        return {};
    }

    // This life cannot go on. The watchdog starts the next one, which begins from the log.
    void die(const std::string& why) {
        output_.log("server").write(Level::critical, "this server's life is over", "why", why);
        ::_exit(static_cast<int>(ExitCode::temporary));
    }

    Task<void> announce() {
        const bool serves_a_copy = !options_.reads_only.empty();
        while (!server_->ready() && !serves_a_copy) co_await opened_->wait(seconds(1));
        watched_.ready(fmt::format(
            "http://{}:{}", config_.listen.substr(0, config_.listen.rfind(':')), api_->port()));
    }

    void follow_signals() {
        signals_.async_wait([this](boost::system::error_code failed, int signal) {
            if (failed) return;
            if (signal == SIGHUP) {
                output_.reopen();
            } else if (!std::exchange(stopping_, true)) {
                api_->stop();
                boost::asio::co_spawn(context_, leave(), boost::asio::detached);
            } else {
                context_.stop();
            }
            follow_signals();
        });
    }

    // What is under way is answered; what waits for a lost store is not waited for.
    Task<void> leave() {
        auto alarm = clock_.make_alarm();
        const auto deadline = clock_.boot() + patience_with_requests;
        while (!api_->finished() && clock_.boot() < deadline) co_await alarm->wait(poll_interval);
        server_->stop();
        context_.stop();
    }

    const Config& config_;
    LogOutput& output_;
    boost::asio::io_context context_{1};
    AsioClock clock_;
    Entropy random_;
    boost::asio::signal_set signals_;
    Watched watched_;
    ApiOptions options_;
    DiskSpace space_;
    std::string data_;  // without links
    SocketPeers peers_;
    std::unique_ptr<TokenFile> tokens_;
    std::unique_ptr<AuditFile> audit_;
    Stores stores_;
    std::unique_ptr<Alarm> opened_ = clock_.make_alarm();
    std::unique_ptr<Server> server_;
    std::unique_ptr<ApiServer> api_;
    bool stopping_ = false;
    ExitCode code_ = ExitCode::ok;
};

}  // namespace

ExitCode run_server(const Config& config, const ProcessSurroundings& around) {
    auto output = LogOutput::open(config);
    if (!output) return refuse(output.error());
    // Never destroyed: frames of the loop may still refer to what would be destroyed.
    auto* process = new ServerProcess(config, around, **output);
    const auto code = process->run();
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
}

}  // namespace perdure
