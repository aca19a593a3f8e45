#include "store/engine/state/ranking.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "base/zoo.h"

namespace perdure::store {

Ranking::Ranking(const Shapes& shapes, QueueWeights weights)
    : shapes_(shapes), weights_(std::move(weights)) {
    for (const auto id : shapes.ready()) add_jobs(id, shapes.count(id, JobState::ready));
}

// --- candidates ----------------------------------------------------------------------------------

template <class Member>
void Ranking::Candidates<Member>::lower(Member& member, const Key& key) {
    if (!member.at) {
        entries_.emplace(key, &member);
        member.at = key;
        return;
    }
    if (*member.at <= key) return;
    auto node = entries_.extract({*member.at, &member});
    PERDURE_ASSERT(!node.empty());
    node.value().first = key;
    member.at = key;
    entries_.insert(std::move(node));
}

template <class Member>
void Ranking::Candidates<Member>::remove(Member& member) {
    if (!member.at) return;
    entries_.erase({*member.at, &member});
    member.at.reset();
}

// Of the first one. Mostly it stays the first: then the set need not change.
template <class Member>
void Ranking::Candidates<Member>::raise(Member& member, const Key& key) {
    member.at = key;
    const auto next = std::next(entries_.begin());
    if (next == entries_.end() || key < next->first) {
        const_cast<Entry&>(*entries_.begin()).first = key;
        return;
    }
    auto node = entries_.extract(entries_.begin());
    node.value().first = key;
    entries_.insert(std::move(node));
}

template <class Member>
Member* Ranking::Candidates<Member>::first() {
    while (!entries_.empty()) {
        const auto& [at, member] = *entries_.begin();
        const auto key = current(*member);
        if (key == at) return member;
        raise(*member, key);
    }
    return nullptr;
}

// --- keys ----------------------------------------------------------------------------------------

// Without the turn of the queue, which all lines of a group have in common.
Ranking::Key Ranking::key_of(const QueuePosition& order, const Share& share) {
    return {.priority = order.priority,
            .in_turn = order.in_turn,
            .queue = {},
            .share = share.turn.rank,
            .since = order.since,
            .job = order.job};
}

Ranking::Key Ranking::current(Line& line) { return key_of(*line.head, *line.share); }

Ranking::Key Ranking::current(Share& share) { return key_of(share.lines.begin()->first, share); }

template <class Member>
Ranking::Key Ranking::current(Group<Member>& group) {
    auto key = *group.members.first()->at;
    key.queue = group.queue->turn.rank;
    return key;
}

template <class Member>
Ranking::Line& Ranking::line_of(Group<Member>& group) {
    return line_of(*group.members.first());
}

Ranking::Key Ranking::key_of(const Head& head) {
    const auto& share = *line(head.shape).share;
    auto key = key_of(head.order, share);
    key.queue = share.queue->turn.rank;
    return key;
}

// --- groups --------------------------------------------------------------------------------------

template <class Member>
void Ranking::offer(Group<Member>& group, Member& member) {
    auto key = current(member);
    group.members.lower(member, key);
    if (group.queue->is_paused) return;
    key.queue = group.queue->turn.rank;
    group.among->lower(group, key);
}

template <class Member>
void Ranking::withdraw(Group<Member>& group, Member& member) {
    group.members.remove(member);
    if (group.members.empty()) group.among->remove(group);
}

template <class Member>
void Ranking::note_pause(Group<Member>& group) {
    if (group.queue->is_paused) {
        group.among->remove(group);
    } else if (!group.members.empty()) {
        group.among->lower(group, current(group));
    }
}

bool Ranking::stands_still(const std::string& tenant, const std::string& queue) const {
    return shapes_.is_paused(tenant, queue) && !zoo(Bug::paused_queue_is_claimed);
}

Ranking::Queue& Ranking::queue_of(Tenant& tenant, const Shape& shape) {
    const auto [found, is_new] = tenant.queues.try_emplace(shape.queue);
    Queue& queue = found->second;
    if (!is_new) return queue;
    queue.tenant = &tenant;
    queue.turn.weight = weights_.of(shape.queue);
    queue.is_paused = stands_still(shape.tenant, shape.queue);
    queue.all.queue = &queue;
    queue.all.among = &tenant.all;
    return queue;
}

Ranking::Line& Ranking::line(ShapeId id) {
    const auto index = static_cast<std::size_t>(id) - 1;
    if (index < lines_.size() && lines_[index]) return *lines_[index];
    const auto& shape = shapes_.shape(id);  // whatever a damaged row says, it must be one
    if (index >= lines_.size()) lines_.resize(index + 1);
    auto& known = lines_[index];
    auto& tenant = tenants_[shape.tenant];
    Queue& queue = queue_of(tenant, shape);
    Share& share = queue.shares[shape.share];
    share.queue = &queue;
    auto& kind = queue.kinds[{shape.kind, shape.submitter}];
    kind.queue = &queue;
    kind.among = &tenant.kinds[{shape.kind, shape.submitter}];
    known = std::make_unique<Line>();
    known->shape = id;
    known->share = &share;
    known->of_kind = &kind;
    return *known;
}

// --- what happens to lines -----------------------------------------------------------------------

void Ranking::add_jobs(ShapeId id, std::uint64_t jobs) {
    if (jobs == 0) return;
    Share& share = *line(id).share;
    Queue& queue = *share.queue;
    if (share.jobs == 0) queue.turns.enter(share.turn);
    Tenant& tenant = *queue.tenant;
    if (queue.jobs == 0 && !queue.is_paused) tenant.turns.enter(queue.turn);
    if (tenant.jobs == 0) turns_.enter(tenant.turn);
    share.jobs += jobs;
    queue.jobs += jobs;
    tenant.jobs += jobs;
}

// What was counted wrongly may leave more often than it came.
void Ranking::leave(ShapeId id) {
    Share& share = *line(id).share;
    Queue& queue = *share.queue;
    if (share.jobs == 0) return;
    if (--share.jobs == 0) queue.turns.leave(share.turn);
    Tenant& tenant = *queue.tenant;
    if (--queue.jobs == 0 && queue.turn.waits) tenant.turns.leave(queue.turn);
    if (--tenant.jobs == 0) turns_.leave(tenant.turn);
}

void Ranking::list(ShapeId id, const std::optional<QueuePosition>& head) {
    Line& of = line(id);
    if (of.head == head) return;
    Share& share = *of.share;
    std::set<std::pair<QueuePosition, Line*>>::node_type node;
    if (of.head) node = share.lines.extract({*of.head, &of});
    of.head = head;
    if (head && node) {
        node.value().first = *head;
        share.lines.insert(std::move(node));
    } else if (head) {
        share.lines.emplace(*head, &of);
    }
    if (head) {
        offer(*of.of_kind, of);
    } else {
        withdraw(*of.of_kind, of);
    }
    auto& all = share.queue->all;
    share.lines.empty() ? withdraw(all, share) : offer(all, share);
}

void Ranking::note_pause(const std::string& tenant, const std::string& queue) {
    const auto of = tenants_.find(tenant);
    if (of == tenants_.end()) return;
    const auto found = of->second.queues.find(queue);
    if (found == of->second.queues.end()) return;
    Queue& changed = found->second;
    const bool is_paused = stands_still(tenant, queue);
    if (is_paused == changed.is_paused) return;
    changed.is_paused = is_paused;
    if (changed.jobs > 0) {
        auto& turns = of->second.turns;
        is_paused ? turns.leave(changed.turn) : turns.enter(changed.turn);
    }
    note_pause(changed.all);
    for (auto& [kind, group] : changed.kinds) note_pause(group);
}

void Ranking::charge(ShapeId id) {
    if (zoo(Bug::turns_forgotten)) return;
    Share& share = *line(id).share;
    Tenant& tenant = *share.queue->tenant;
    // Alone it takes nobody's turn.
    if (turns_.waiting() > 1) turns_.charge(tenant.turn);
    tenant.turns.charge(share.queue->turn);
    share.queue->turns.charge(share.turn);
}

// --- who is first --------------------------------------------------------------------------------

namespace {

constexpr SubmitterKind submitter_kinds[] = {SubmitterKind::no_account, SubmitterKind::account,
                                             SubmitterKind::root};

}  // namespace

struct Ranking::First {
    const Shapes& shapes;
    const Offer& offer;
    Line* line = nullptr;
    Key key = {};

    template <class Member>
    void consider(Group<Member>& group) {
        if (group.members.empty()) return;
        const auto other = current(group);
        if (line && key < other) return;
        key = other;
        line = &line_of(group);
    }
    template <class Member>
    void consider(Candidates<Group<Member>>& groups) {
        if (auto* group = groups.first()) consider(*group);
    }
    // All lines of such a group have one kind and one kind of submitter: any of them tells.
    void look_if_taken(Group<Line>& group) {
        if (group.members.empty() || !matches(offer, shapes.shape(line_of(group).shape))) return;
        consider(group);
    }
    void look_if_taken(Candidates<Group<Line>>& groups) {
        if (auto* group = groups.first()) look_if_taken(*group);
    }
    template <class Value>
    void consider_kinds(ByKind<Value>& kinds) {
        // Whoever takes some submitters' jobs alone names its kinds; without it is as many looks.
        if (offer.kinds.empty())
            for (auto& [kind, value] : kinds) look_if_taken(value);
        for (const auto& name : offer.kinds)
            for (const auto submitter : submitter_kinds)
                if (const auto at = kinds.find(KindOrder::Name(name, submitter)); at != kinds.end())
                    look_if_taken(at->second);
    }
};

// Turn by turn: of many groups one line each, of few groups many.
struct Ranking::Soon {
    std::size_t max = 0;
    std::vector<Head> heads;

    void add(const Line& line, std::size_t /*room*/) { heads.push_back({*line.head, line.shape}); }
    void add(const Share& share, std::size_t room) {
        for (const auto& [order, line] : share.lines) {
            if (room-- == 0) return;
            add(*line, 1);
        }
    }
    template <class Member>
    void add(const Group<Member>& group, std::size_t room) {
        add(group.members, room);
    }
    template <class Member>
    void add(const Candidates<Member>& among, std::size_t room) {
        if (among.empty()) return;
        const auto each = std::max<std::size_t>(room / among.size(), 1);
        for (const auto& [key, member] : among.entries()) {
            if (room == 0 || heads.size() >= max) return;
            add(*member, std::min(each, room));
            room -= std::min(each, room);
        }
    }
};

void Ranking::consider(const Tenant& tenant, const Offer& offer, Soon& soon) {
    const auto max = soon.max;
    if (offer.queues.empty() && offer.kinds.empty()) soon.add(tenant.all, max);
    for (const auto& name : offer.kinds) {
        if (!offer.queues.empty()) break;
        for (const auto submitter : submitter_kinds)
            if (const auto kind = tenant.kinds.find(KindOrder::Name(name, submitter));
                kind != tenant.kinds.end())
                soon.add(kind->second, max / offer.kinds.size() + 1);
    }
    for (const auto& name : offer.queues)
        if (const auto queue = tenant.queues.find(name); queue != tenant.queues.end())
            soon.add(queue->second.all, max / offer.queues.size() + 1);
}

std::vector<Ranking::Head> Ranking::soon(const Offer& offer, std::size_t max) const {
    Soon soon{.max = max, .heads = {}};
    const auto consider_tenant = [&](const std::string& name) {
        const auto found = tenants_.find(name);
        if (found != tenants_.end()) consider(found->second, offer, soon);
    };
    consider_tenant(offer.tenant);
    for (const auto& name : offer.other_tenants) consider_tenant(name);
    return std::move(soon.heads);
}

void Ranking::consider(Tenant& tenant, First& first) {
    const auto& offer = first.offer;
    const bool takes_all = offer.kinds.empty() && offer.takes_from == TakesFrom::anybody;
    if (offer.queues.empty())
        takes_all ? first.consider(tenant.all) : first.consider_kinds(tenant.kinds);
    for (const auto& name : offer.queues) {
        const auto at = tenant.queues.find(name);
        if (at == tenant.queues.end() || at->second.is_paused) continue;
        Queue& queue = at->second;
        takes_all ? first.consider(queue.all) : first.consider_kinds(queue.kinds);
    }
}

std::optional<Ranking::Head> Ranking::first(const Offer& offer) {
    std::optional<Head> best;
    const auto look = [&](const std::string& name) {
        const auto found = tenants_.find(name);
        if (found == tenants_.end()) return;
        First first{.shapes = shapes_, .offer = offer};
        consider(found->second, first);
        if (!first.line) return;
        const Head head{*first.line->head, first.line->shape};
        if (!best || tenant_goes_before(head, *best)) best = head;
    };
    look(offer.tenant);
    for (const auto& name : offer.other_tenants) look(name);
    return best;
}

bool Ranking::tenant_goes_before(const Head& a, const Head& b) {
    const auto key = [&](const Head& head) {
        const Tenant& tenant = *line(head.shape).share->queue->tenant;
        const auto& order = head.order;
        return std::tuple(order.priority, order.in_turn, tenant.turn.rank, order.since, order.job);
    };
    return key(a) < key(b);
}

bool Ranking::goes_before(const Head& a, const Head& b) {
    const bool of_one_tenant =
        line(a.shape).share->queue->tenant == line(b.shape).share->queue->tenant;
    return of_one_tenant ? key_of(a) < key_of(b) : tenant_goes_before(a, b);
}

}  // namespace perdure::store
