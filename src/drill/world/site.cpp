#include "drill/world/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "drill/world/clock.h"

namespace perdure::drill {
namespace {

constexpr std::size_t room_beside = 14;  // slots besides those of the neighbours
constexpr double look_after_neighbours_s = 0.5;
constexpr double patience_with_neighbours_s = 30;
constexpr const char* neighbour = R"({"argv":["sleep","5"],"queue":"neighbours"})";

void add_settings(std::vector<std::string>& words, const std::vector<std::string>& settings) {
    for (const auto& setting : settings) words.insert(words.end(), {"--set", setting});
}

}  // namespace

Result<std::unique_ptr<Site>> Site::open(SiteOptions options) {
    std::unique_ptr<Site> site(new Site(std::move(options)));
    std::error_code failed;
    std::filesystem::create_directories(site->folder(), failed);
    if (failed) return error(Errc::unavailable, site->folder() + ": " + failed.message());
    if (auto started = site->start_program(); !started) return started.error();
    if (site->options_.is_fleet && site->options_.neighbours > 0)
        if (auto started = site->start_spare(); !started) return started.error();
    if (site->options_.neighbours > 0)
        site->company_ = std::thread([raw = site.get()] { raw->keep_company(); });
    return site;
}

Site::~Site() {
    enough_ = true;
    if (company_.joinable()) company_.join();
}

std::vector<std::string> Site::settings() const {
    std::vector<std::string> all = {fmt::format("timing.hold={}s", static_cast<int>(hold_s))};
    all.insert(all.end(), options_.settings.begin(), options_.settings.end());
    return all;
}

Result<void> Site::start_program() {
    std::vector<std::string> words = {options_.is_fleet ? "server" : "up",
                                      "--data",
                                      folder() + "/data",
                                      "--listen",
                                      fmt::format("127.0.0.1:{}", port_),
                                      "--log-level",
                                      "warn"};
    if (!options_.is_fleet)
        words.insert(words.end(), {"--slots", std::to_string(options_.neighbours + room_beside)});
    add_settings(words, settings());
    auto program = Program::start(words, folder() + "/log");
    if (!program) return program.error();
    program_ = std::move(*program);
    port_ = program_->port();
    api_ = std::make_unique<Api>(port_);
    return {};
}

Result<void> Site::start_spare() {
    std::vector<std::string> words = {"worker",
                                      "--server",
                                      fmt::format("http://127.0.0.1:{}", port_),
                                      "--name",
                                      "spare",
                                      "--queues",
                                      "neighbours",
                                      "--slots",
                                      std::to_string(options_.neighbours),
                                      "--state",
                                      folder() + "/spare",
                                      "--log-level",
                                      "warn"};
    add_settings(words, settings());
    auto spare = Program::start(words, folder() + "/log-spare");
    if (!spare) return spare.error();
    spare_ = std::move(*spare);
    return {};
}

Result<std::unique_ptr<Program>> Site::start_worker(const WorkerOptions& options) const {
    std::vector<std::string> words = {
        "worker",
        "--server",
        fmt::format("http://127.0.0.1:{}", options.port != 0 ? options.port : port_),
        "--name",
        options.name,
        "--queues",
        options.queue,
        "--slots",
        std::to_string(options.slots),
        "--state",
        folder() + "/" + options.name,
        "--log-level",
        "warn"};
    add_settings(words, settings());
    add_settings(words, options.settings);
    return Program::start(words, folder() + "/log-" + options.name);
}

// --- neighbours ----------------------------------------------------------------------------------

void Site::keep_company() {
    while (!enough_ && !interrupted()) {
        top_up();
        pause_for(look_after_neighbours_s);
    }
}

std::size_t Site::neighbours_under_way() const {
    const auto queues = api_->get("/v1/queues");
    if (!queues) return options_.neighbours;  // nobody to ask: nothing to do
    std::size_t count = 0;
    const auto* list = member(*queues, "queues").if_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        if (text_of((*list)[i], "queue") != "neighbours") continue;
        for (const auto* state : {"ready", "scheduled", "blocked", "starting", "running"}) {
            const auto* jobs = member(member((*list)[i], "jobs"), state).if_int64();
            count += jobs ? static_cast<std::size_t>(*jobs) : 0;
        }
    }
    return count;
}

void Site::top_up() {
    const auto there = neighbours_under_way();
    if (there >= options_.neighbours) return;
    std::string body = R"({"jobs":[)";
    for (auto i = there; i < options_.neighbours; ++i)
        body += fmt::format("{}{}", i == there ? "" : ",", neighbour);
    const auto answer = api_->post("/v1/jobs", body + "]}");
    if (!answer) return;
    if (const auto* jobs = member(*answer, "jobs").if_array())
        for (const auto& job : *jobs) neighbours_.push_back(text_of(job, "id"));
}

// More than one of its attempts may have run. One that was only assigned does not count.
bool Site::ran_twice(const std::string& id) const {
    const auto job = api_->job(id);
    if (!job) return true;
    return std::count_if(job->attempts.begin(), job->attempts.end(),
                         [](const AttemptFacts& one) { return one.ran != "no"; }) > 1;
}

// By id: what was accepted must have succeeded. Empty: nobody was.
std::string Site::harmed_neighbour() const {
    std::set<std::string> missing(neighbours_.begin(), neighbours_.end());
    std::string before;
    while (!missing.empty()) {
        const auto page = api_->get("/v1/jobs?queue=neighbours&limit=1000" + before);
        if (!page) return "the server does not list them: " + page.error().what;
        const auto* jobs = member(*page, "jobs").if_array();
        for (std::size_t i = 0; jobs && i < jobs->size(); ++i) {
            const auto& job = (*jobs)[i];
            const auto state = text_of(job, "state");
            const auto* epoch = member(job, "epoch").if_int64();
            const auto id = text_of(job, "id");
            if (missing.erase(id) == 0) continue;
            if (state != "succeeded") return fmt::format("neighbour {} is {}", id, state);
            if (options_.unharmed && (!epoch || *epoch != 1) && ran_twice(id))
                return fmt::format("neighbour {} ran again", id);
        }
        const auto next = text_of(*page, "next");
        if (next.empty()) break;
        before = "&before=" + next;
    }
    return missing.empty() ? "" : "neighbour " + *missing.begin() + " was lost";
}

Result<std::size_t> Site::see_neighbours_off() {
    enough_ = true;
    if (company_.joinable()) company_.join();
    if (neighbours_.empty()) return std::size_t{0};
    const auto gone = until_true(
        patience_with_neighbours_s, "the neighbours end",
        [this] { return neighbours_under_way() == 0; }, look_after_neighbours_s);
    if (!gone) return gone.error();
    const auto harmed = harmed_neighbour();
    if (!harmed.empty()) return error(Errc::unavailable, harmed);
    return neighbours_.size();
}

}  // namespace perdure::drill
