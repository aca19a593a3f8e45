// GET /v1/jobs/ID/logs: what an attempt has printed, now or as it comes.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"

namespace perdure::handlers {
namespace {

constexpr std::uint64_t piece_max = std::uint64_t{1} << 20;
constexpr auto look_again = milliseconds(100);

enum class Follow { no, attempt, job };

struct Wish {
    JobId job;
    Epoch epoch;  // zero: the newest
    std::uint64_t offset = 0;
    std::uint64_t max = piece_max;
    Follow follow = Follow::no;
};

Wish read_wish(QueryReader& query, JobId job) {
    Wish wish{.job = job};
    wish.epoch.value = static_cast<std::uint32_t>(query.number("epoch", 0, 1, std::uint32_t(-1)));
    wish.offset = query.number("offset", 0, 0, INT64_MAX);
    wish.max = query.number("max", piece_max, 1, piece_max);
    const auto follow = query.text("follow").value_or("false");
    if (follow == "true")
        wish.follow = Follow::job;
    else if (follow == "attempt")
        wish.follow = Follow::attempt;
    else if (follow != "false")
        query.misfit("follow", "must be true, attempt or false");
    return wish;
}

Response head(Epoch epoch, std::uint64_t offset) {
    Response response{.content_type = "application/octet-stream"};
    response.headers.emplace_back("Perdure-Epoch", std::to_string(epoch.value));
    response.headers.emplace_back("Perdure-Offset", std::to_string(offset));
    return response;
}

Error no_such_attempt(Epoch epoch) {
    return error(Errc::not_found, "there is no attempt " + std::to_string(epoch.value));
}

Task<Response> read_once(Api& api, Wish wish, const JobView& job) {
    if (wish.epoch.value == 0) wish.epoch = job.epoch;
    if (wish.epoch > job.epoch) co_return problem(no_such_attempt(wish.epoch));
    const AttemptKey attempt{wish.job, wish.epoch};
    auto piece = co_await api.blobs.read(attempt, wish.offset, wish.max);
    if (!piece) co_return problem(piece.error());
    auto response = head(wish.epoch, wish.offset);
    response.headers.emplace_back("Perdure-End", std::to_string(piece->end));
    response.body = std::move(piece->bytes);
    co_return response;
}

// Follows one attempt after another. Each look is: where is the job, then what is there to read;
// in this order, so that what was printed before an attempt ended is always sent.
class Follower {
public:
    Follower(Api& api, Wish wish, ChunkedBody& body)
        : api_(api),
          wish_(wish),
          body_(body),
          alarm_(api.clock.make_alarm()),
          listening_(api.bells, wish.job, *alarm_) {}

    Task<Response> run() {
        while (true) {
            auto job = co_await look();
            if (job.is(Errc::overloaded) && began_) {
                co_await alarm_->wait(look_again);
                continue;
            }
            if (!job) co_return problem(job.error());
            if (wish_.epoch.value == 0) wish_.epoch = std::max(job->epoch, Epoch{1});
            const bool exists = wish_.epoch <= job->epoch;
            if (!exists && has_ended(job->state)) {
                if (began_) co_return Response{};
                co_return problem(no_such_attempt(wish_.epoch));
            }
            const bool over = exists && has_ended_by(*job);
            if (exists) {
                const bool sent = co_await send_what_is_there();
                if (!sent) co_return problem(error(Errc::unavailable, "the stream broke"));
            }
            if (over && wish_.follow == Follow::attempt) co_return Response{};
            if (over) {
                wish_.epoch = wish_.epoch.next();
                wish_.offset = 0;
                continue;
            }
            if (api_.stopping || body_.peer_is_gone())
                co_return problem(error(Errc::unavailable, "the server stops"));
            co_await alarm_->wait(look_again);
        }
    }

private:
    // With the attempt that is followed, if that exists, or else the newest.
    Task<Result<JobView>> look() {
        const AttemptWindow newest{.max = 1};
        const auto shown = wish_.epoch.value == 0 ? newest : only(wish_.epoch);
        return read_job(api_, {}, wish_.job, shown);
    }

    bool has_ended_by(const JobView& job) const {
        return !job.attempts.empty() && job.attempts.back().epoch == wish_.epoch &&
               job.attempts.back().end.has_value();
    }

    Task<bool> send_what_is_there() {
        if (!began_) {
            began_ = true;
            const bool begun = co_await body_.begin(head(wish_.epoch, wish_.offset));
            if (!begun) co_return false;
        }
        while (true) {
            const AttemptKey attempt{wish_.job, wish_.epoch};
            auto piece = co_await api_.blobs.read(attempt, wish_.offset, piece_max);
            if (!piece) co_return false;
            if (piece->bytes.empty()) co_return true;
            wish_.offset += piece->bytes.size();
            const bool sent = co_await body_.send(std::move(piece->bytes));
            if (!sent) co_return false;
        }
    }

    Api& api_;
    Wish wish_;
    ChunkedBody& body_;
    std::unique_ptr<Alarm> alarm_;
    Bells::Listening listening_;
    bool began_ = false;
};

}  // namespace

Task<Response> read_logs(Api& api, const Request& request, ChunkedBody& body) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    QueryReader query(request);
    const auto wish = read_wish(query, *id);
    if (const auto misfit = query.finish()) co_return problem(*misfit);
    if (wish.follow != Follow::no) {
        Follower follower(api, wish, body);
        co_return co_await follower.run();
    }
    auto job = co_await read_job(api, terms_of(request), *id);
    if (!job) co_return problem(job.error());
    co_return co_await read_once(api, wish, *job);
}

}  // namespace perdure::handlers
