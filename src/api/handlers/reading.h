// What most handlers begin with: the job that the path names, and the body as JSON.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "api/api.h"
#include "api/http/message.h"
#include "api/http/problem.h"
#include "api/http/query.h"
#include "base/id.h"
#include "base/result.h"
#include "core/job/job.h"
#include "ports/catalogue.h"
#include "ports/views.h"
#include "wire/json_reader.h"

namespace perdure::handlers {

// not_found if the path's first name is no id.
Result<JobId> job_of(const Request& request);

// Reads a JSON object with known fields; an empty body counts as {}.
template <class T>
std::optional<ParseError> read_body(const Request& request, std::span<const JsonField<T>> fields,
                                    T& into) {
    if (request.body.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
    JsonTree root;
    if (auto parse_error = parse_strict(request.body, root)) return parse_error;
    Reading reading;
    read_fields<T>(JsonCursor(root, reading), fields, into);
    return reading.parse_error;
}

// Who asks, for the store.
inline ReadTerms terms_of(const Request& request) { return {.gone = request.gone}; }

// A job with its newest attempt alone, or with those of a window.
Task<Result<JobView>> read_job(Api& api, ReadTerms terms, JobId id,
                               AttemptWindow attempts = {.max = 1});

// Goes on reading pieces until a page is full, for a moment: then the page is answered as it is,
// with the place where the next one begins.
class PageWalk {
public:
    PageWalk(Api& api, const Request& request);
    // Asked before every piece but the first.
    bool goes_on();

private:
    Clock& clock_;
    std::shared_ptr<std::atomic<bool>> gone_;
    BootTime until_;
};

// The newest entries of a job in the ledger, as many as one looks at.
RecoveryFilter recoveries_of(const JobView& job);

// How many of a list are wanted: 50 if the request does not say, 1000 at most.
std::uint32_t read_page_size(QueryReader& query);

// The same for lines that are short and mostly few: 1000 if the request does not say.
std::uint32_t read_large_page_size(QueryReader& query);

// One of the names that an enumeration has, if the request says one.
template <class Enum>
void read_name(QueryReader& query, std::string_view what, std::span<const std::string_view> names,
               std::optional<Enum>& into) {
    const auto text = query.text(what);
    if (!text) return;
    const auto found = std::find(names.begin(), names.end(), *text);
    if (found == names.end())
        return query.parse_error(what, "there is no " + std::string(what) + " `" + *text + "`");
    into = static_cast<Enum>(found - names.begin());
}

// For routes that take neither body nor parameters.
std::optional<ParseError> expect_nothing(const Request& request);

}  // namespace perdure::handlers
