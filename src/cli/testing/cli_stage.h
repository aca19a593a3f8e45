// A stage for tests of commands: a world without surprises, a server that answers as it is told,
// and everything that was said and printed.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/system.h"
#include "wire/json_reader.h"
#include "wire/text_time.h"

namespace perdure::cli {

inline ApiAnswer json_answer(unsigned status, const std::string& text) {
    ApiAnswer answer;
    answer.status = status;
    answer.text = text;
    (void)parse_quick(text, answer.body);
    return answer;
}
inline ApiAnswer refusal_answer(unsigned status, Errc code, std::string what,
                                std::string path = "") {
    ApiAnswer answer;
    answer.status = status;
    answer.refusal = error(code, std::move(what));
    answer.path = std::move(path);
    return answer;
}

class StagedSystem final : public System {
public:
    std::map<std::string, std::string> variables = {{"HOME", "/there"}};
    std::map<std::string, std::string> files;
    std::set<std::string> foreign;  // files of another account
    WallTime time = *time_value("2026-11-15T12:00:00Z");
    Duration ahead;                  // of UTC, the clocks here
    std::deque<std::string> person;  // what the person types
    bool ctrl_c = false;
    bool sigterm = false;
    bool input = false;  // something lies on standard input
    std::string last;    // job that was submitted
    std::uint64_t drawn = 0;
    int pauses = 0;

    const std::map<std::string, std::string>& environment() const override { return variables; }
    HostFacts host() const override { return {.host_name = "anvil", .cpus = 2, .home = "/there"}; }
    std::string current_directory() const override { return "/here"; }
    JobHost here() const override { return {.limits = {}, .uid = 1000, .files = "mark"}; }
    Result<std::string> read_file(const std::string& path) override {
        const auto found = files.find(path);
        if (found == files.end()) return error(Errc::not_found, path + " does not exist");
        return found->second;
    }
    Result<std::string> read_trusted_file(const std::string& path) override {
        if (foreign.contains(path)) return error(Errc::forbidden, path + " belongs to somebody");
        return read_file(path);
    }
    WallTime now() const override { return time; }
    Duration utc_offset(WallTime) const override { return ahead; }
    std::uint64_t random() override { return ++drawn; }
    void pause(Duration duration) override {
        ++pauses;
        time = time + duration;
    }
    void catch_interrupts() override {}
    bool has_input() const override { return input; }
    std::string last_job() const override { return last; }
    void remember_job(const std::string& id) override { last = id; }
    Interrupt interrupted() override {
        if (std::exchange(sigterm, false)) return Interrupt::by_signal;
        return std::exchange(ctrl_c, false) ? Interrupt::by_person : Interrupt::none;
    }
    std::optional<std::string> read_answer(const std::function<bool()>& is_over) override {
        if (person.empty()) {
            if (is_over) (void)is_over();
            return std::nullopt;
        }
        auto answer = person.front();
        person.pop_front();
        return answer;
    }
};

// What the server does, step by step. Every call takes the next step; one too many is a failure.
struct StageStep {
    std::string expected;  // "POST /v1/jobs": how the call must begin
    Result<ApiAnswer> answer;
    std::string bytes;                     // of a stream, before its end
    std::function<void()> meanwhile = {};  // while the call is under way
};

struct StageServer {
    std::deque<StageStep> steps;
    // What `run` and `submit` ask before anything else, without a step.
    std::string workers =
        R"({"workers": [{"worker": "w", "host": {"uid": 1000, "files": "mark"}}]})";
    std::vector<std::string> calls;   // as they came
    std::vector<std::string> bodies;  // of each of them

    Result<ApiAnswer> take(const std::string& call, const std::string& body,
                           const ApiCaller::Piece& piece) {
        const bool is_before = call.starts_with("GET /v1/workers?limit=1000&tenant=");
        if (is_before) return json_answer(200, workers);
        calls.push_back(call);
        bodies.push_back(body);
        if (steps.empty()) return error(Errc::corrupt, "the test did not expect " + call);
        auto step = std::move(steps.front());
        steps.pop_front();
        if (!call.starts_with(step.expected))
            return error(Errc::corrupt, "expected " + step.expected + ", not " + call);
        if (step.meanwhile) step.meanwhile();
        if (piece && !step.bytes.empty()) piece(step.bytes);
        return step.answer;
    }
};

class StagedApi final : public ApiCaller {
public:
    explicit StagedApi(StageServer& server) : server_(server) {}
    Result<ApiAnswer> request(const ApiRequest& request) override {
        return server_.take(std::string(request.method) + " " + request.target, request.body, {});
    }
    Result<ApiAnswer> stream(const std::string& target, std::optional<Duration>,
                             Piece piece) override {
        return server_.take("STREAM " + target, "", piece);
    }
    std::string where() const override { return "http://127.0.0.1:7373"; }

private:
    StageServer& server_;
};

class StagedSubPrograms final : public SubPrograms {
public:
    explicit StagedSubPrograms(StageServer& server) : server_(server) {}

    std::vector<std::string> urls;
    Result<std::string> socket_answer = std::string("ok");
    std::string socket_request;
    std::vector<std::string> bench_words;
    std::optional<Config> kept;
    BuildFacts facts = {"0123456789ab", "2026-11-15"};
    std::string backup;
    OfflineRestored restored;
    Result<OfflineReport> report = OfflineReport{};

    std::unique_ptr<ApiCaller> connect(const Configuration& configuration, System&) override {
        urls = configuration.config.servers;
        return std::make_unique<StagedApi>(server_);
    }
    Result<std::string> ask_job_socket(const std::string&, const std::string& request) override {
        socket_request = request;
        return socket_answer;
    }
    ExitCode keep_running(Role, const Configuration& configuration) override {
        kept = configuration.config;
        return ExitCode::ok;
    }
    ExitCode run_child(Role, const Configuration& configuration) override {
        kept = configuration.config;
        return ExitCode::ok;
    }
    Result<OfflineReport> fsck_offline(const Config&) override { return report; }
    Result<OfflineBackup> backup_offline(const Config&, const std::string& path,
                                         const BackupProgress& progress) override {
        backup = path;
        progress(1, 2);
        return OfflineBackup{.jobs = 3, .bytes = 4096, .taken_on = WallTime{1'000'000}};
    }
    Result<std::vector<OfflineCompacted>> compact(const Config&,
                                                  const BackupProgress& progress) override {
        progress(1, 2);
        return std::vector<OfflineCompacted>{{"logs.db", 84 << 20, 1 << 20}};
    }
    Result<OfflineRestored> restore(const Config&, const std::string& path, RestoreWhat) override {
        backup = path;
        return restored;
    }
    Result<std::string> migrate(const Config&, MissingLog log) override {
        return std::string(log == MissingLog::accept ? "taken without its log" : "nothing to do");
    }
    ExitCode bench(const Configuration&, const std::vector<std::string>& words) override {
        bench_words = words;
        return ExitCode::ok;
    }
    ExitCode drill(const std::vector<std::string>&) override { return ExitCode::ok; }
    BuildFacts build() const override { return facts; }

private:
    StageServer& server_;
};

// One invocation after another, with what each of them printed.
class Stage {
public:
    StagedSystem system;
    StageServer server;
    StagedSubPrograms backstage{server};
    Terminal::Look look;
    std::string out;
    std::string err;

    int run(const std::vector<std::string>& words) {
        std::ostringstream to_out;
        std::ostringstream to_err;
        Terminal term(to_out, to_err, look);
        const auto code = run_program(words, term, system, backstage);
        out = to_out.str();
        err = to_err.str();
        return static_cast<int>(code);
    }
    void expect(std::string call, Result<ApiAnswer> answer) {
        server.steps.push_back({std::move(call), std::move(answer), "", {}});
    }
    void expect_stream(std::string call, std::string bytes, Result<ApiAnswer> answer) {
        server.steps.push_back(
            {"STREAM " + std::move(call), std::move(answer), std::move(bytes), {}});
    }
};

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace perdure::cli
