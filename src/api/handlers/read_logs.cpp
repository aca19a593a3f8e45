// GET /v1/jobs/ID/logs: what an attempt has printed, now or as it comes.
#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"

namespace perdure::handlers {
namespace {

constexpr std::uint64_t piece_max = std::uint64_t{1} << 20;
constexpr auto poll_interval = milliseconds(100);

enum class Follow { no, attempt, job };

struct LogQuery {
    JobId job;
    Epoch epoch;  // zero: the newest
    std::uint64_t offset = 0;
    std::uint64_t max = piece_max;
    Follow follow = Follow::no;
};

LogQuery read_log_query(QueryReader& query, JobId job) {
    LogQuery wanted{.job = job};
    wanted.epoch.value = static_cast<std::uint32_t>(query.number("epoch", 0, 1, std::uint32_t(-1)));
    wanted.offset = query.number("offset", 0, 0, INT64_MAX);
    wanted.max = query.number("max", piece_max, 1, piece_max);
    const auto follow = query.text("follow").value_or("false");
    if (follow == "true")
        wanted.follow = Follow::job;
    else if (follow == "attempt")
        wanted.follow = Follow::attempt;
    else if (follow != "false")
        query.parse_error("follow", "must be true, attempt or false");
    return wanted;
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

Task<Response> read_once(Api& api, LogQuery wanted, const JobView& job) {
    if (wanted.epoch.value == 0) wanted.epoch = job.epoch;
    if (wanted.epoch > job.epoch) co_return problem(no_such_attempt(wanted.epoch));
    const AttemptKey attempt{wanted.job, wanted.epoch};
    auto piece = co_await api.blobs.read(attempt, wanted.offset, wanted.max);
    if (!piece) co_return problem(piece.error());
    auto response = head(wanted.epoch, wanted.offset);
    response.headers.emplace_back("Perdure-End", std::to_string(piece->end));
    response.body = std::move(piece->bytes);
    co_return response;
}

// Follows one attempt after another. Each look is: where is the job, then what is there to read;
// in this order, so that what was printed before an attempt ended is always sent.
class Follower {
public:
    Follower(Api& api, LogQuery wanted, ChunkedBody& body)
        : api_(api),
          query_(wanted),
          body_(body),
          alarm_(api.clock.make_alarm()),
          listening_(api.bells, wanted.job, *alarm_) {}

    Task<Response> run() {
        while (true) {
            auto job = co_await look();
            if (job.is(Errc::overloaded) && began_) {
                co_await alarm_->wait(poll_interval);
                continue;
            }
            if (!job) co_return problem(job.error());
            if (query_.epoch.value == 0) query_.epoch = std::max(job->epoch, Epoch{1});
            const bool exists = query_.epoch <= job->epoch;
            if (!exists && has_ended(job->state)) {
                if (began_) co_return Response{};
                co_return problem(no_such_attempt(query_.epoch));
            }
            const bool over = exists && has_ended_by(*job);
            if (exists) {
                const bool sent = co_await send_what_is_there();
                if (!sent) co_return problem(error(Errc::unavailable, "the stream broke"));
            }
            if (over && query_.follow == Follow::attempt) co_return Response{};
            if (over) {
                query_.epoch = query_.epoch.next();
                query_.offset = 0;
                continue;
            }
            if (api_.stopping || body_.peer_is_gone())
                co_return problem(error(Errc::unavailable, "the server stops"));
            co_await alarm_->wait(poll_interval);
        }
    }

private:
    // With the attempt that is followed, if that exists, or else the newest.
    Task<Result<JobView>> look() {
        const AttemptWindow newest{.max = 1};
        const auto shown = query_.epoch.value == 0 ? newest : only(query_.epoch);
        return read_job(api_, {}, query_.job, shown);
    }

    bool has_ended_by(const JobView& job) const {
        return !job.attempts.empty() && job.attempts.back().epoch == query_.epoch &&
               job.attempts.back().end.has_value();
    }

    Task<bool> send_what_is_there() {
        if (!began_) {
            began_ = true;
            const bool begun = co_await body_.begin(head(query_.epoch, query_.offset));
            if (!begun) co_return false;
        }
        while (true) {
            const AttemptKey attempt{query_.job, query_.epoch};
            auto piece = co_await api_.blobs.read(attempt, query_.offset, piece_max);
            if (!piece) co_return false;
            if (piece->bytes.empty()) co_return true;
            query_.offset += piece->bytes.size();
            const bool sent = co_await body_.send(std::move(piece->bytes));
            if (!sent) co_return false;
        }
    }

    Api& api_;
    LogQuery query_;
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
    const auto wanted = read_log_query(query, *id);
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    if (wanted.follow != Follow::no) {
        Follower follower(api, wanted, body);
        co_return co_await follower.run();
    }
    auto job = co_await read_job(api, terms_of(request), *id);
    if (!job) co_return problem(job.error());
    co_return co_await read_once(api, wanted, *job);
}

}  // namespace perdure::handlers
