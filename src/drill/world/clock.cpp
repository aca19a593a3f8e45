#include "drill/world/clock.h"

#include <signal.h>

#include <algorithm>
#include <atomic>

namespace perdure::drill {
namespace {

std::atomic<bool> pressed = false;
constexpr double notice_every_s = 0.1;

void note(int) { pressed = true; }

}  // namespace

bool interrupted() { return pressed; }
void interrupt() { pressed = true; }

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = note;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

bool pause_for(double seconds) {
    const Stopwatch watch;
    while (!pressed && watch.seconds() < seconds) {
        const auto left = std::clamp(seconds - watch.seconds(), 0.0, notice_every_s);
        std::this_thread::sleep_for(std::chrono::duration<double>(left));
    }
    return !pressed;
}

}  // namespace perdure::drill
