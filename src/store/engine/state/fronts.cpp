#include "store/engine/state/fronts.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace perdure::store {
namespace {

// Half of the jobs that State keeps: a front is of no use once its jobs were let go.
constexpr std::size_t budget = 8'192;    // jobs, in all lines together
constexpr std::size_t line_max = 1'000;  // jobs, in one of them
// When the first has left, who is next is known: first in, first out over many lines would have to
// read each of them by itself.
constexpr std::size_t line_min = 2;
constexpr std::size_t entered_max = 64;  // jobs that have entered one, if nobody has read more
constexpr std::uint32_t wanted_min = 8;  // reading some more costs little

const std::set<ShapeId> no_lines;

}  // namespace

Fronts::Fronts(const Shapes& shapes, const QueueWeights& weights)
    : shapes_(shapes), ranking_(shapes, weights) {
    for (const auto id : shapes.ready()) forget_front(id);
}

Fronts::Line& Fronts::add(ShapeId id) {
    const auto [at, is_new] = lines_.try_emplace(id);
    Line& line = at->second;
    if (!is_new) return line;
    line.tenant = &tenants_[shapes_.shape(id).tenant];
    return line;
}

const Fronts::Tenant* Fronts::find_tenant(const std::string& name) const {
    const auto found = tenants_.find(name);
    return found == tenants_.end() ? nullptr : &found->second;
}

std::size_t Fronts::front_max() const {
    const auto lines = std::max<std::size_t>(lines_.size(), 1);
    return std::clamp<std::size_t>(budget / lines, line_min, line_max);
}

std::uint32_t Fronts::read_max(std::uint32_t wanted) const {
    return std::min(std::max(wanted, wanted_min), static_cast<std::uint32_t>(front_max()));
}

std::uint32_t Fronts::load_max() const {
    return lines_.size() * line_min > budget ? 1 : static_cast<std::uint32_t>(line_max);
}

void Fronts::enter(ShapeId id, const QueuePosition& order) {
    ranking_.enter(id);
    Line& line = add(id);
    if (line.known == Known::front) {
        enter_front(line, order);
    } else {
        enter_behind(id, line, order);
    }
    if (!line.front.empty() && !line.end) line.end = line.front.front();
    keep_to_budget(id, line);
    list(id, line);
}

// Nobody is known there.
void Fronts::enter_behind(ShapeId id, Line& line, const QueuePosition& order) {
    if (!line.end || *line.end < order) return;
    line.end.reset();
    if (line.known == Known::end) use_up(id, line);
}

// Nobody is left of those that were known.
void Fronts::use_up(ShapeId id, Line& line) {
    line.known = line.end ? Known::end : Known::nothing;
    if (!line.end) line.tenant->unread.insert(id);
}

// What does not find room there is behind it.
void Fronts::enter_front(Line& line, const QueuePosition& order) {
    if (!line.is_all && line.end < order) return;
    auto& front = line.front;
    front.insert(std::lower_bound(front.begin(), front.end(), order, std::greater<>()), order);
    ++jobs_;
    if (line.end < order) line.end = order;
    if (front.size() <= std::min(front_max(), entered_max)) return;
    front.erase(front.begin());
    --jobs_;
    line.is_all = false;
    line.end.reset();  // those who have left may have been behind the last one
}

void Fronts::leave(ShapeId id, const QueuePosition& order) {
    ranking_.leave(id);
    const auto found = lines_.find(id);
    if (found == lines_.end()) return;
    Line& line = found->second;
    auto& front = line.front;
    const auto before = front.size();
    if (!front.empty() && front.back() == order) {
        front.pop_back();
    } else {
        const auto at = std::lower_bound(front.begin(), front.end(), order, std::greater<>());
        if (at != front.end() && *at == order) front.erase(at);
    }
    jobs_ -= before - front.size();
    update(id, line);
}

// After jobs have left it, or it was read.
void Fronts::update(ShapeId id, Line& line) {
    if (line.known == Known::front && line.front.empty() && !line.is_all) use_up(id, line);
    list(id, line);
    const bool is_empty = line.known == Known::front && line.front.empty();
    if (!is_empty || line.is_hidden) return;
    if (line.is_long) long_.erase(id);
    lines_.erase(id);
}

// Puts its head where claims look for it, or takes it away.
void Fronts::list(ShapeId id, Line& line) {
    std::optional<QueuePosition> head;
    if (line.known == Known::front && !line.front.empty()) head = line.front.back();
    if (line.known == Known::end) head = line.end;
    if (line.is_hidden) head.reset();
    ranking_.list(id, head);
}

void Fronts::clear_front(Line& line) {
    jobs_ -= line.front.size();
    line.front.clear();
}

// One line has become longer: others give way, each down to what every line may have.
void Fronts::keep_to_budget(ShapeId id, Line& line) {
    if (line.front.size() > line_min && !line.is_long) {
        line.is_long = true;
        long_.insert(id);
    }
    while (jobs_ > std::max(budget, line_min * lines_.size())) {
        auto next = long_.upper_bound(shortened_);
        if (next == long_.end()) next = long_.begin();
        shortened_ = *next;
        Line& other = lines_.at(shortened_);
        shorten(other);
        other.is_long = other.front.size() > line_min;
        if (!other.is_long) long_.erase(next);
    }
}

void Fronts::shorten(Line& line) {
    const auto max = front_max();
    auto& front = line.front;
    if (front.size() <= max) return;
    jobs_ -= front.size() - max;
    front.erase(front.begin(), front.end() - static_cast<std::ptrdiff_t>(max));
    front.shrink_to_fit();
    line.is_all = false;
    line.end = front.front();
}

const std::set<ShapeId>& Fronts::unread(const std::string& tenant) const {
    const auto* found = find_tenant(tenant);
    return found ? found->unread : no_lines;
}

const std::set<ShapeId>& Fronts::damaged(const std::string& tenant) const {
    const auto* found = find_tenant(tenant);
    return found ? found->damaged : no_lines;
}

bool Fronts::knows_first_of(ShapeId id) const {
    const auto found = lines_.find(id);
    return found != lines_.end() && found->second.known == Known::front;
}

std::optional<QueuePosition> Fronts::read_from(ShapeId id) const {
    const Line& line = lines_.at(id);
    return line.known == Known::front ? std::nullopt : line.end;
}

void Fronts::read(ShapeId id, std::vector<QueuePosition> front, bool is_all) {
    Line& line = add(id);
    line.tenant->unread.erase(id);
    line.known = Known::front;
    clear_front(line);
    line.front.assign(front.rbegin(), front.rend());
    jobs_ += front.size();
    line.is_all = is_all;
    if (!front.empty()) line.end = front.back();
    keep_to_budget(id, line);
    update(id, line);
}

void Fronts::forget_front(ShapeId id) {
    Line& line = add(id);
    line.known = Known::nothing;
    clear_front(line);
    line.end.reset();
    line.tenant->unread.insert(id);
    list(id, line);
}

void Fronts::note_damaged(ShapeId id) {
    forget_front(id);
    Line& line = add(id);
    line.known = Known::damage;
    line.tenant->unread.erase(id);
    line.tenant->damaged.insert(id);
}

void Fronts::hide(ShapeId id) {
    Line& line = add(id);
    line.is_hidden = true;
    list(id, line);
}

void Fronts::show(ShapeId id) {
    Line& line = add(id);
    line.is_hidden = false;
    update(id, line);
}

}  // namespace perdure::store
