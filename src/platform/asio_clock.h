// AsioClock: the real clocks of this host, and alarms on one io_context. For one thread: that of
// the loop, except before it runs. The context outlives the clock and its alarms.
//
// Alarms count on the boot clock, as boot() does, so that the time of a suspended machine passes
// for them, too. The kernel's timer behind them stands still meanwhile: after such a pause an
// alarm may be late by up to a second.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "ports/clock.h"

namespace perdure {

class AsioClock final : public Clock {
public:
    explicit AsioClock(boost::asio::io_context& context) : context_(context) {}

    WallTime wall() const override;
    BootTime boot() const override;
    Executor executor() override { return context_.get_executor(); }
    std::unique_ptr<Alarm> make_alarm() override;

private:
    boost::asio::io_context& context_;
};

}  // namespace perdure
