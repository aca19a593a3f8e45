#include "store/engine/state/fronts.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/zoo.h"

namespace perdure::store {
namespace {

// Half of the jobs that State keeps: a front is of no use once its jobs were let go.
constexpr std::size_t budget = 8'192;    // jobs, in all lines together
constexpr std::size_t line_max = 1'000;  // jobs, in one of them
constexpr std::size_t entered_max = 64;  // jobs that have entered one, if nobody has read more
constexpr std::uint32_t wanted_min = 8;  // reading some more costs little

const std::set<ShapeId> no_lines;

// The node is used again: at each claim the head of a line changes.
template <class Heads, class Head>
void replace(Heads& heads, const std::optional<Head>& before, const std::optional<Head>& after) {
    if (!before) {
        if (after) heads.insert(*after);
        return;
    }
    auto node = heads.extract(*before);
    if (!after || node.empty()) return;
    node.value() = *after;
    heads.insert(std::move(node));
}

template <class Head>
void take_earlier(const Head*& first, const Head* other) {
    if (other && (!first || *other < *first)) first = other;
}

template <class Heads>
const typename Heads::value_type* first_of(const Heads& heads) {
    return heads.empty() ? nullptr : &*heads.begin();
}

}  // namespace

Fronts::Fronts(const Shapes& shapes) : shapes_(shapes) {
    for (const auto id : shapes.ready()) forget_front(id);
}

Fronts::Line& Fronts::add(ShapeId id) {
    const auto [at, is_new] = lines_.try_emplace(id);
    Line& line = at->second;
    if (!is_new) return line;
    const auto& [tenant, queue, kind] = shapes_.shape(id);
    line.tenant = &tenants_[tenant];
    const auto [found, is_new_queue] = line.tenant->queues.try_emplace(queue);
    line.queue = &found->second;
    if (is_new_queue) line.queue->is_paused = stands_still(tenant, queue);
    line.queue->by_kind[kind] = id;
    line.kind = &line.tenant->kinds[kind];
    return line;
}

const Fronts::Tenant* Fronts::find_tenant(const std::string& name) const {
    const auto found = tenants_.find(name);
    return found == tenants_.end() ? nullptr : &found->second;
}

bool Fronts::stands_still(const std::string& tenant, const std::string& queue) const {
    return shapes_.is_paused(tenant, queue) && !zoo(Bug::paused_queue_is_claimed);
}

std::size_t Fronts::front_max() const {
    return std::clamp<std::size_t>(budget / std::max<std::size_t>(lines_.size(), 1), 1, line_max);
}

std::uint32_t Fronts::read_max(std::uint32_t wanted) const {
    return std::min(std::max(wanted, wanted_min), static_cast<std::uint32_t>(front_max()));
}

// The row of this job is not as it was written.
void Fronts::note_pending(ShapeId id, Line& line, const ClaimOrder& order) {
    if (line.pending == Pending::nothing) pending_.push_back(id);
    const bool is_behind = !line.end || *line.end < order;
    line.pending = is_behind ? Pending::behind_front : std::max(line.pending, Pending::in_front);
}

void Fronts::note_written() {
    for (const auto id : pending_)
        if (const auto found = lines_.find(id); found != lines_.end())
            found->second.pending = Pending::nothing;
    pending_.clear();
}

Fronts::ReadFrom Fronts::read_from(ShapeId id) const {
    const Line& line = lines_.at(id);
    switch (line.pending) {
        case Pending::nothing: return {.behind = std::nullopt, .as_written = true};
        case Pending::in_front: return {.behind = line.end, .as_written = true};
        case Pending::behind_front: break;
    }
    return {};
}

void Fronts::enter(ShapeId id, const ClaimOrder& order) {
    Line& line = add(id);
    if (line.known == Known::front) {
        enter_front(line, order);
    } else {
        line.end.reset();  // somebody may be before it again
    }
    note_pending(id, line, order);
    if (!line.front.empty() && !line.end) line.end = line.front.front();
    list(id, line);
}

// What does not find room there is behind it.
void Fronts::enter_front(Line& line, const ClaimOrder& order) {
    if (!line.is_all && line.end < order) return;
    auto& front = line.front;
    front.insert(std::lower_bound(front.begin(), front.end(), order, std::greater<>()), order);
    if (line.end < order) line.end = order;
    if (front.size() <= std::min(front_max(), entered_max)) return;
    front.erase(front.begin());
    line.is_all = false;
    line.end.reset();  // those who have left may have been behind the last one
}

void Fronts::leave(ShapeId id, const ClaimOrder& order) {
    const auto found = lines_.find(id);
    if (found == lines_.end()) return;
    Line& line = found->second;
    auto& front = line.front;
    note_pending(id, line, order);
    if (!front.empty() && front.back() == order) {
        front.pop_back();
    } else {
        const auto at = std::lower_bound(front.begin(), front.end(), order, std::greater<>());
        if (at != front.end() && *at == order) front.erase(at);
    }
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
    if (is_empty && !line.is_hidden) lines_.erase(id);
}

// Puts its head where claims look for it, or takes it away.
void Fronts::list(ShapeId id, Line& line) {
    std::optional<Head> head;
    if (line.known == Known::front && !line.is_hidden && !line.front.empty())
        head = Head{line.front.back(), id};
    if (head == line.listed) return;
    replace(line.queue->heads, line.listed, head);
    if (!line.queue->is_paused) {
        replace(line.tenant->heads, line.listed, head);
        replace(*line.kind, line.listed, head);
    }
    line.listed = head;
}

void Fronts::note_pause(const std::string& tenant, const std::string& queue) {
    const auto of = tenants_.find(tenant);
    if (of == tenants_.end()) return;
    const auto found = of->second.queues.find(queue);
    if (found == of->second.queues.end()) return;
    Queue& changed = found->second;
    const bool is_paused = stands_still(tenant, queue);
    if (is_paused == changed.is_paused) return;
    changed.is_paused = is_paused;
    for (const auto& head : changed.heads) {
        const Line& line = lines_.at(head.shape);
        for (auto* heads : {&line.tenant->heads, line.kind}) {
            if (is_paused) {
                heads->erase(head);
            } else {
                heads->insert(head);
            }
        }
    }
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
    line.front.assign(front.rbegin(), front.rend());
    line.is_all = is_all;
    if (!front.empty()) line.end = front.back();
    update(id, line);
}

void Fronts::forget_front(ShapeId id) {
    Line& line = add(id);
    line.known = Known::nothing;
    line.front.clear();
    line.end.reset();
    if (line.pending != Pending::nothing) line.pending = Pending::behind_front;
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

// The first line of a queue whose kind is among these.
const Fronts::Head* Fronts::first_in(const Queue& queue,
                                     const std::vector<std::string>& kinds) const {
    if (kinds.empty()) return first_of(queue.heads);
    const Head* first = nullptr;
    if (queue.heads.size() > kinds.size()) {
        for (const auto& kind : kinds) {
            const auto id = queue.by_kind.find(kind);
            if (id == queue.by_kind.end()) continue;
            const auto line = lines_.find(id->second);
            if (line != lines_.end() && line->second.listed)
                take_earlier(first, &*line->second.listed);
        }
        return first;
    }
    const auto found = std::find_if(queue.heads.begin(), queue.heads.end(), [&](const Head& head) {
        return std::find(kinds.begin(), kinds.end(), shapes_.shape(head.shape).kind) != kinds.end();
    });
    return found == queue.heads.end() ? nullptr : &*found;
}

std::optional<Fronts::Head> Fronts::first(const Offer& offer) const {
    const auto* tenant = find_tenant(offer.tenant);
    if (!tenant) return std::nullopt;
    const Head* first = nullptr;
    if (offer.queues.empty() && offer.kinds.empty()) first = first_of(tenant->heads);
    for (const auto& name : offer.queues) {
        const auto queue = tenant->queues.find(name);
        if (queue == tenant->queues.end() || queue->second.is_paused) continue;
        take_earlier(first, first_in(queue->second, offer.kinds));
    }
    if (offer.queues.empty()) {
        for (const auto& name : offer.kinds) {
            const auto kind = tenant->kinds.find(name);
            if (kind != tenant->kinds.end()) take_earlier(first, first_of(kind->second));
        }
    }
    return first ? std::optional(*first) : std::nullopt;
}

}  // namespace perdure::store
