// Delivery: one try to bring one message to its receiver. try_once() gathers what happened; the end
// is decide_delivery()'s to say.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/clock.h"
#include "ports/in_process.h"
#include "webhook/message.h"
#include "webhook/webhooks.h"

namespace perdure {

struct Webhooks::Shared {
    Shared(Clock& c, WebhookOptions o);

    Clock& clock;
    WebhookOptions options;
    mutable boost::asio::ssl::context tls;
};

class Delivery final : public InProcessWork, public std::enable_shared_from_this<Delivery> {
public:
    Delivery(std::shared_ptr<const Webhooks::Shared> shared, Message message);

    Task<InProcessEnd> run() override;
    void stop() override;

private:
    using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
    using Endpoint = boost::asio::ip::tcp::endpoint;
    using Self = std::shared_ptr<Delivery>;

    static Task<InProcessEnd> run_until_its_end(Self self);
    static Task<void> try_once(Self self);
    static Task<std::vector<Endpoint>> resolve(Self self);
    static Task<bool> connect(Self self, std::vector<Endpoint> endpoints);
    static Task<void> exchange_in_secret(Self self);
    template <class Stream>
    static Task<void> exchange(Self self, Stream& stream);
    template <class Stream>
    static Task<void> read_answer(Self self, Stream& stream);

    bool sign();
    std::vector<Endpoint> allowed_of(const std::vector<Endpoint>& found);
    std::string request() const;
    InProcessEnd end() const;
    std::string sentence() const;
    std::string result() const;

    std::shared_ptr<const Webhooks::Shared> shared_;
    Message message_;
    std::unique_ptr<Alarm> alarm_;  // rings when the try is over
    Socket socket_;
    BootTime began_at_;

    // What is known so far.
    bool tried_ = false;
    std::int64_t timestamp_ = 0;
    std::string signature_;
    std::optional<Cause> did_not_run_;  // before anything was sent
    std::optional<unsigned> status_;
    std::string location_;
    std::string answer_;
    std::string problem_;
};

}  // namespace perdure
