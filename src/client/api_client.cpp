#include "client/api_client.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <utility>

#include "client/http_link.h"
#include "client/reply_error.h"
#include "wire/json_reader.h"

namespace perdure {
namespace {

constexpr auto interruption_poll = std::chrono::milliseconds(100);
constexpr auto no_timeout = days(365);

ApiReply reply_of(HttpReply from) {
    ApiReply reply{.status = from.status, .text = std::move(from.body)};
    boost::json::value body;
    if (!reply.text.empty() && !parse_quick(reply.text, body)) reply.body = std::move(body);
    return reply;
}

}  // namespace

Error ApiReply::error() const { return read_refusal(status, text).error; }
std::string ApiReply::path() const { return read_refusal(status, text).path; }

struct ApiClient::State {
    explicit State(Options o) : options(std::move(o)) {}

    template <class T>
    static Task<void> keep(Task<Result<T>> task, std::optional<Result<T>>& into) {
        into.emplace(co_await std::move(task));
    }

    // Runs the task to its end, or until somebody interrupts.
    template <class T>
    Result<T> run(Task<Result<T>> task) {
        std::optional<Result<T>> result;
        context.restart();
        boost::asio::co_spawn(context.get_executor(), keep(std::move(task), result),
                              boost::asio::detached);
        while (!result) {
            context.run_for(interruption_poll);
            if (result || !options.interrupted || !options.interrupted()) continue;
            interrupted = true;
            link->close();
            context.run();
        }
        if (std::exchange(interrupted, false) && !*result)
            return perdure::error(Errc::unavailable, "interrupted");
        return std::move(*result);
    }

    Task<Result<void>> connect() {
        Error last = perdure::error(Errc::invalid, "no server is named");
        if (link && link->is_usable()) co_return Result<void>{};
        for (std::size_t i = 0; i < options.urls.size(); ++i) {
            auto parsed = read_url(options.urls[i]);
            if (!parsed) co_return parsed.error();
            link.emplace(context.get_executor(), std::move(*parsed), options.credentials);
            auto connected = co_await link->connect(options.connect_timeout);
            if (connected) {
                url = options.urls[i];
                co_return connected;
            }
            last = connected.error();
            if (interrupted) break;
        }
        co_return last;
    }

    Task<Result<ApiReply>> request(HttpCall call, Duration timeout) {
        const bool only_reads = call.method == "GET";
        auto connected = co_await connect();
        if (!connected) co_return connected.error();
        auto reply = co_await link->call(std::move(call), timeout);
        if (reply) co_return reply_of(std::move(*reply));
        auto why = reply.error();
        if (only_reads && why.code == Errc::outcome_unknown) why.code = Errc::unavailable;
        co_return why;
    }

    Task<Result<ApiReply>> stream(HttpCall call, Head head, Piece piece) {
        auto connected = co_await connect();
        if (!connected) co_return connected.error();
        auto reply = co_await link->begin(std::move(call), no_timeout);
        if (!reply) co_return unavailable(reply.error());
        if (reply->status != 200) co_return reply_of(std::move(*reply));
        if (head) head({.epoch = reply->epoch, .offset = reply->offset});
        while (true) {
            auto bytes = co_await link->next_piece(no_timeout);
            if (!bytes) co_return unavailable(bytes.error());
            if (bytes->empty()) break;
            if (piece(*bytes)) continue;
            link->close();
            break;
        }
        co_return reply_of(std::move(*reply));
    }

    static Error unavailable(Error why) {
        why.code = Errc::unavailable;
        return why;
    }

    Options options;
    boost::asio::io_context context{1};
    std::optional<HttpLink> link;
    std::string url;
    bool interrupted = false;
};

ApiClient::ApiClient(Options options) : state_(std::make_unique<State>(std::move(options))) {}
ApiClient::~ApiClient() = default;

const std::string& ApiClient::url() const { return state_->url; }

Result<ApiReply> ApiClient::request(std::string_view method, std::string_view target,
                                    std::string body, std::optional<Duration> timeout) {
    HttpCall call{
        .method = std::string(method), .target = std::string(target), .body = std::move(body)};
    const auto patience = timeout.value_or(state_->options.timeout);
    return state_->run(state_->request(std::move(call), patience));
}

Result<ApiReply> ApiClient::stream(std::string_view target, Head head, Piece piece) {
    HttpCall call{.target = std::string(target)};
    return state_->run(state_->stream(std::move(call), std::move(head), std::move(piece)));
}

Result<boost::json::value> take(Result<ApiReply> reply) {
    if (!reply) return reply.error();
    if (!reply->ok()) return reply->error();
    return std::move(reply->body);
}

}  // namespace perdure
