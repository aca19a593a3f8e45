#include "store/engine/state/fronts.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace perdure::store {
namespace {

// Half of the jobs that State keeps: a front is of no use once its jobs were let go.
constexpr std::size_t budget = 8'192;    // jobs, in all lines together
constexpr std::size_t line_max = 1'000;  // jobs, in one of them
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
    return std::clamp<std::size_t>(budget / std::max<std::size_t>(lines_.size(), 1), 1, line_max);
}

std::uint32_t Fronts::read_max(std::uint32_t wanted) const {
    return std::min(std::max(wanted, wanted_min), static_cast<std::uint32_t>(front_max()));
}

void Fronts::enter(ShapeId id, const ClaimOrder& order) {
    ranking_.enter(id);
    Line& line = add(id);
    if (line.known == Known::front) {
        enter_front(line, order);
    } else {
        line.end.reset();  // somebody may be before it again
    }
    if (!line.front.empty() && !line.end) line.end = line.front.front();
    keep_to_budget(id, line);
    list(id, line);
}

// What does not find room there is behind it.
void Fronts::enter_front(Line& line, const ClaimOrder& order) {
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

void Fronts::leave(ShapeId id, const ClaimOrder& order) {
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
    if (line.known == Known::front && line.front.empty() && !line.is_all) {
        line.known = Known::nothing;
        line.tenant->unread.insert(id);
    }
    list(id, line);
    const bool is_empty = line.known == Known::front && line.front.empty();
    if (!is_empty || line.is_hidden) return;
    if (line.is_long) long_.erase(id);
    lines_.erase(id);
}

// Puts its head where claims look for it, or takes it away.
void Fronts::list(ShapeId id, Line& line) {
    std::optional<ClaimOrder> head;
    if (line.known == Known::front && !line.is_hidden && !line.front.empty())
        head = line.front.back();
    ranking_.list(id, head);
}

void Fronts::clear_front(Line& line) {
    jobs_ -= line.front.size();
    line.front.clear();
}

// One line has become longer: others give way, each down to what every line may have.
void Fronts::keep_to_budget(ShapeId id, Line& line) {
    if (line.front.size() > 1 && !line.is_long) {
        line.is_long = true;
        long_.insert(id);
    }
    while (jobs_ > std::max(budget, lines_.size())) {
        auto next = long_.upper_bound(shortened_);
        if (next == long_.end()) next = long_.begin();
        shortened_ = *next;
        Line& other = lines_.at(shortened_);
        shorten(other);
        other.is_long = other.front.size() > 1;
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

void Fronts::read(ShapeId id, std::vector<ClaimOrder> front, bool is_all) {
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
