#include "client/reply_error.h"

#include <fmt/format.h>

#include <array>

#include "wire/json_reader.h"

namespace perdure {
namespace {

constexpr std::array codes = {Errc::invalid,         Errc::not_found,       Errc::gone,
                              Errc::conflict,        Errc::unauthenticated, Errc::forbidden,
                              Errc::fenced,          Errc::overloaded,      Errc::unavailable,
                              Errc::outcome_unknown, Errc::corrupt};

Errc code_of_status(unsigned status) {
    switch (status) {
        case 401: return Errc::unauthenticated;
        case 403: return Errc::forbidden;
        case 404: return Errc::not_found;
        case 409: return Errc::conflict;
        case 410: return Errc::gone;
        case 429: return Errc::overloaded;
        case 408:
        case 502:
        case 503: return Errc::unavailable;
        case 504: return Errc::outcome_unknown;
        default: return status < 500 ? Errc::invalid : Errc::corrupt;
    }
}

std::string text_at(const boost::json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (!value || !value->is_string()) return {};
    return std::string(value->get_string().data(), value->get_string().size());
}

}  // namespace

Refusal read_refusal(unsigned status, std::string_view body) {
    Refusal refusal{error(code_of_status(status), fmt::format("the server answered {}", status)),
                    {}};
    boost::json::value root;
    if (parse_quick(body, root) || !root.is_object()) return refusal;
    const auto* content = root.get_object().if_contains("error");
    if (!content || !content->is_object()) return refusal;
    const auto& object = content->get_object();
    const auto code = text_at(object, "code");
    for (const auto known : codes)
        if (to_string(known) == code) refusal.error.code = known;
    refusal.error.what = text_at(object, "message");
    refusal.path = text_at(object, "path");
    return refusal;
}

}  // namespace perdure
