#include "client/http_server_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/http_link.h"
#include "client/parts.h"
#include "client/reply_error.h"
#include "wire/log_frames.h"
#include "wire/worker_json.h"

namespace perdure {

// What calls share. Their frames keep it alive.
struct HttpServerApi::Links {
    struct ServerLinks {
        Url url;
        std::vector<std::unique_ptr<HttpLink>> idle;
    };

    Links(Clock& c, Duration t, std::shared_ptr<const ClientIdentity> i)
        : clock(c), executor(c.executor()), call_timeout(t), credentials(std::move(i)) {}

    // An idle connection that still lives, or a new one that is to be connected.
    std::unique_ptr<HttpLink> take(std::size_t server) {
        auto& idle = servers[server].idle;
        while (!idle.empty()) {
            auto link = std::move(idle.back());
            idle.pop_back();
            if (link->is_usable()) return link;
        }
        return std::make_unique<HttpLink>(executor, servers[server].url, credentials);
    }
    void give_back(std::size_t server, std::unique_ptr<HttpLink> link) {
        if (link->is_usable()) servers[server].idle.push_back(std::move(link));
    }

    Clock& clock;  // of the loop: outlives every frame
    Executor executor;
    Duration call_timeout;
    std::shared_ptr<const ClientIdentity> credentials;
    std::vector<ServerLinks> servers;
};

namespace {

using Links = HttpServerApi::Links;

constexpr auto stream_silence = seconds(5);  // five times what a server lets pass

Task<Result<HttpReply>> exchange(std::shared_ptr<Links> links, std::size_t server, HttpCall call) {
    const auto until = links->clock.boot() + links->call_timeout;
    auto link = links->take(server);
    if (!link->is_usable()) {
        auto connected = co_await link->connect(links->call_timeout);
        if (!connected) co_return connected.error();
    }
    auto reply = co_await link->call(std::move(call), until - links->clock.boot());
    if (reply) links->give_back(server, std::move(link));
    co_return reply;
}

template <class Answer>
Task<Result<Answer>> ask(std::shared_ptr<Links> links, std::size_t server, HttpCall call) {
    auto reply = co_await exchange(std::move(links), server, std::move(call));
    if (!reply) co_return reply.error();
    if (reply->status != 200) co_return read_refusal(reply->status, reply->body).error;
    Answer answer;
    if (const auto parse_error = from_json(reply->body, answer))
        co_return error(Errc::corrupt, fmt::format("the server's answer does not fit at {}: {}",
                                                   parse_error->path, parse_error->what));
    co_return answer;
}

HttpCall post(std::string target, std::string body) {
    return {.method = "POST", .target = std::move(target), .body = std::move(body)};
}

// What a server refuses to take in one piece would never be taken: so it goes in several. Each is
// answered for itself; the rest is not sent if one is not answered, and all is repeated then.
Task<Result<ReportResponse>> report_in_parts(std::shared_ptr<Links> links, std::size_t server,
                                             ReportRequest request) {
    ReportResponse all;
    for (auto& part : split(std::move(request))) {
        const auto count = part.items.size();
        auto call = post("/v1/worker/report", json_text(part));
        auto answer = co_await ask<ReportResponse>(links, server, std::move(call));
        if (!answer) co_return answer.error();
        if (answer->answers.size() != count)
            co_return error(Errc::corrupt, "the server did not answer each item");
        all.answers.insert(all.answers.end(), answer->answers.begin(), answer->answers.end());
    }
    co_return all;
}

Task<Result<LogResponse>> logs_in_parts(std::shared_ptr<Links> links, std::size_t server,
                                        LogRequest request) {
    LogResponse all;
    const auto target = "/v1/worker/logs?session=" + request.session.text();
    for (auto& part : split(std::move(request))) {
        auto call = post(target, log_frames(part.chunks));
        call.content_type = "application/octet-stream";
        auto answer = co_await ask<LogResponse>(links, server, std::move(call));
        if (!answer) co_return answer.error();
        all.answers.insert(all.answers.end(), answer->answers.begin(), answer->answers.end());
    }
    co_return all;
}

class HttpStream final : public Stream {
public:
    explicit HttpStream(std::unique_ptr<HttpLink> link)
        : state_(std::make_shared<State>(std::move(link))) {}
    ~HttpStream() override { state_->link->close(); }

    Task<Result<std::vector<StreamMessage>>> next() override { return next_of(state_); }
    void close() override { state_->link->close(); }

private:
    struct State {
        explicit State(std::unique_ptr<HttpLink> l) : link(std::move(l)) {}
        std::unique_ptr<HttpLink> link;
        std::string unread;
    };

    static Task<Result<std::vector<StreamMessage>>> next_of(std::shared_ptr<State> state) {
        while (true) {
            auto piece = co_await state->link->next_piece(stream_silence);
            if (!piece) co_return piece.error();
            if (piece->empty()) co_return error(Errc::unavailable, "the server ended the stream");
            state->unread += *piece;
            auto messages = take_lines(state->unread);
            if (!messages) co_return messages.error();
            if (!messages->empty()) co_return std::move(*messages);
        }
    }

    // The whole lines of `unread`. Empty lines say that the server lives; what a later version
    // sends and this one does not know is passed over.
    static Result<std::vector<StreamMessage>> take_lines(std::string& unread) {
        std::vector<StreamMessage> messages;
        messages.reserve(static_cast<std::size_t>(std::count(unread.begin(), unread.end(), '\n')));
        std::string_view rest = unread;
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            const auto line = rest.substr(0, end);
            rest.remove_prefix(end + 1);
            if (line.empty()) continue;
            if (const auto parse_error = from_json(line, messages.emplace_back())) {
                messages.pop_back();
                if (parse_error->what == unknown_message) continue;
                return error(Errc::corrupt, fmt::format("a message on the stream does not fit at "
                                                        "{}: {}",
                                                        parse_error->path, parse_error->what));
            }
        }
        unread.erase(0, unread.size() - rest.size());
        return messages;
    }

    std::shared_ptr<State> state_;
};

Task<Result<std::shared_ptr<Stream>>> stream_of(std::shared_ptr<Links> links, std::size_t server,
                                                SessionId session) {
    auto link =
        std::make_unique<HttpLink>(links->executor, links->servers[server].url, links->credentials);
    auto connected = co_await link->connect(links->call_timeout);
    if (!connected) co_return connected.error();
    HttpCall call{.target = "/v1/worker/stream?session=" + session.text()};
    auto head = co_await link->begin(std::move(call), links->call_timeout);
    if (!head) co_return head.error();
    if (head->status != 200) co_return read_refusal(head->status, head->body).error;
    co_return std::shared_ptr<Stream>(std::make_shared<HttpStream>(std::move(link)));
}

}  // namespace

Result<std::unique_ptr<HttpServerApi>> HttpServerApi::make(
    Clock& clock, const std::vector<std::string>& urls, Duration call_timeout,
    std::shared_ptr<const ClientIdentity> credentials) {
    if (urls.empty()) return error(Errc::invalid, "no server is named");
    auto links = std::make_shared<Links>(clock, call_timeout, std::move(credentials));
    for (const auto& text : urls) {
        auto url = read_url(text);
        if (!url) return url.error();
        links->servers.push_back({.url = std::move(*url)});
    }
    return std::unique_ptr<HttpServerApi>(new HttpServerApi(std::move(links)));
}

HttpServerApi::~HttpServerApi() = default;

std::size_t HttpServerApi::server_count() const { return links_->servers.size(); }

Task<Result<OpenAnswer>> HttpServerApi::open(std::size_t server, OpenRequest request) {
    return ask<OpenAnswer>(links_, server, post("/v1/worker/open", json_text(request)));
}

Task<Result<HeartbeatAnswerMessage>> HttpServerApi::heartbeat(std::size_t server,
                                                              HeartbeatRequest request) {
    return ask<HeartbeatAnswerMessage>(links_, server,
                                       post("/v1/worker/heartbeat", json_text(request)));
}

Task<Result<ReportResponse>> HttpServerApi::report(std::size_t server, ReportRequest request) {
    return report_in_parts(links_, server, std::move(request));
}

Task<Result<LogResponse>> HttpServerApi::logs(std::size_t server, LogRequest request) {
    return logs_in_parts(links_, server, std::move(request));
}

Task<Result<InsideReply>> HttpServerApi::inside(std::size_t server, InsideCall call) {
    std::string body;
    append_json(body, call);
    return ask<InsideReply>(links_, server, post("/v1/worker/inside", std::move(body)));
}

Task<Result<std::shared_ptr<Stream>>> HttpServerApi::open_stream(std::size_t server,
                                                                 SessionId session) {
    return stream_of(links_, server, session);
}

}  // namespace perdure
