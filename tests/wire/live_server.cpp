#include "tests/wire/live_server.h"

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>
#include <future>

namespace perdure::wire_tests {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

ApiOptions on_any_port(ApiOptions options) {
    options.port = 0;
    return options;
}

}  // namespace

Task<Result<std::vector<std::uint64_t>>> MemoryBlobs::append(std::vector<LogChunk> chunks) {
    std::vector<std::uint64_t> ends_before;
    for (const auto& chunk : chunks)
        if (chunk.offset > texts_[chunk.attempt].size())
            co_return error(Errc::conflict, "there is a gap");
    for (const auto& chunk : chunks) {
        auto& text = texts_[chunk.attempt];
        ends_before.push_back(text.size());
        const auto known = text.size() - chunk.offset;
        if (known < chunk.bytes.size()) text += chunk.bytes.substr(known);
    }
    co_return ends_before;
}

Task<Result<void>> MemoryBlobs::cut(std::vector<LogCut> cuts) {
    for (const auto& [attempt, end] : cuts) {
        auto& text = texts_[attempt];
        text.resize(std::min<std::size_t>(text.size(), end));
    }
    co_return Result<void>{};
}

Task<Result<LogPiece>> MemoryBlobs::read(AttemptKey attempt, std::uint64_t offset,
                                         std::size_t max) {
    const auto& text = texts_[attempt];
    LogPiece piece{.end = text.size()};
    if (offset < text.size()) piece.bytes = text.substr(offset, max);
    co_return piece;
}

Task<Result<OutputRemoved>> MemoryBlobs::remove(std::vector<JobId> jobs) {
    for (const auto job : jobs)
        std::erase_if(texts_, [&](const auto& entry) { return entry.first.job == job; });
    co_return OutputRemoved{};
}

LiveServer::LiveServer(ApiOptions options)
    : server_({.store = store_,
               .clock = clock_,
               .random = random_,
               .fatal = [](const std::string&) { std::abort(); }},
              Timing{}, Log()),
      api_(server_, store_, blobs_, clock_, Log(log_, "api"), on_any_port(std::move(options))) {
    server_.start();
    const auto listening = api_.listen();
    EXPECT_TRUE(listening);
    thread_ = std::thread([this] { context_.run(); });
    ApiClient client(client_options());
    eventually([&] {
        const auto ready = client.request("GET", "/readyz");
        return ready && ready->ok();
    });
}

LiveServer::~LiveServer() {
    stop();
    context_.stop();
    thread_.join();
}

void LiveServer::on_loop(std::function<void()> work) {
    std::promise<void> done;
    asio::post(context_, [&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

// As the real one does: what is under way is answered before there is nobody left to commit it.
void LiveServer::stop() {
    on_loop([this] { api_.stop(); });
    eventually([this] { return finished(); });
    on_loop([this] { server_.stop(); });
}

bool LiveServer::finished() {
    bool finished = false;
    on_loop([&] { finished = api_.finished(); });
    return finished;
}

std::string exchange(std::uint16_t port, std::string_view bytes,
                     const std::function<bool(const std::string&)>& enough) {
    asio::io_context context;
    tcp::socket socket(context);
    socket.connect({asio::ip::address_v4::loopback(), port});
    boost::system::error_code failure;
    asio::write(socket, asio::buffer(bytes.data(), bytes.size()), failure);
    std::string answer;
    char space[4096];
    while (!enough || !enough(answer)) {
        const auto count = socket.read_some(asio::buffer(space), failure);
        answer.append(space, count);
        if (failure) break;
    }
    return answer;
}

void eventually(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until) {
        if (is_so()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << "it never became so";
}

}  // namespace perdure::wire_tests
