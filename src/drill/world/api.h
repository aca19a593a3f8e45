// Api: what a drill says to a server, over HTTP like everybody else, and what it wants to know of
// the answers. One connection for each call: servers come and go here. Any thread may call.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "drill/world/clock.h"

namespace perdure::drill {

struct AttemptFacts {
    std::uint32_t epoch = 0;
    std::string session;
    std::string cause;  // empty: it has not ended
    std::string ran;
    std::string rule;
    std::string isolation;
    Moment ended_at = 0;
    bool succeeded = false;
    bool clean = false;
};

struct JobFacts {
    std::string id;
    std::string state;
    std::string cause;
    std::string rule;
    std::string session;
    std::uint32_t epoch = 0;
    Moment ended_at = 0;
    bool may_have_run = false;
    std::vector<AttemptFacts> attempts;

    bool has_ended() const { return ended_at != 0; }
    std::string story() const;  // for people: state and the causes of all attempts
};

class Api {
public:
    explicit Api(std::uint16_t port) : port_(port) {}

    Result<boost::json::value> get(std::string_view target) const;
    Result<boost::json::value> post(std::string_view target, std::string_view body = {}) const;
    Result<boost::json::value> put(std::string_view target, std::string_view body) const;

    // The new job's id.
    Result<std::string> submit(const boost::json::object& job) const;
    Result<JobFacts> job(const std::string& id) const;
    // Asks again while the server is away.
    Result<JobFacts> wait_until(const std::string& id, double patience_s, const std::string& what,
                                const std::function<bool(const JobFacts&)>& is_so,
                                double every_s = 0.03) const;
    Result<JobFacts> wait_until_ended(const std::string& id, double patience_s) const;

private:
    Result<boost::json::value> call(std::string_view method, std::string_view target,
                                    std::string_view body) const;

    std::uint16_t port_;
};

// A member of a JSON object; null if it is not there.
const boost::json::value& member(const boost::json::value& object, std::string_view name);
std::string text_of(const boost::json::value& object, std::string_view name);

}  // namespace perdure::drill
