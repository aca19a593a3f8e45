#include "api/http/problem.h"

#include "wire/json_writer.h"

namespace perdure {
namespace {

Response answer(unsigned status, const Error& error, const std::string& path) {
    Response response{.status = status};
    response.refused_as = error.code;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("error");
    json.begin_object();
    json.field("code", to_string(error.code));
    json.field("message", error.what);
    if (!path.empty()) json.field("path", path);
    json.field("page", "docs/errors/" + std::string(to_string(error.code)) + ".md");
    json.end_object();
    json.end_object();
    if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace

unsigned status_of(Errc code) {
    switch (code) {
        case Errc::invalid: return 400;
        case Errc::not_found: return 404;
        case Errc::gone: return 410;
        case Errc::conflict: return 409;
        case Errc::unauthenticated: return 401;
        case Errc::forbidden: return 403;
        case Errc::fenced: return 409;
        case Errc::overloaded: return 429;
        case Errc::unavailable: return 503;
        case Errc::outcome_unknown: return 504;
        case Errc::corrupt: return 500;
    }
    return 500;
}

Response problem(const Error& error, const std::string& path) {
    return answer(status_of(error.code), error, path);
}

Response problem(const ParseError& parse_error) {
    return answer(400, error(Errc::invalid, parse_error.what), parse_error.path);
}

Response problem(unsigned status, const Error& error) { return answer(status, error, {}); }

}  // namespace perdure
