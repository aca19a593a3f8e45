// Ranking: which of all lines is the first for an offer (E6, E7): by priority, first in line, the
// turn of its queue among those of its tenant, the turn of its share within the queue, time, id.
// Of several tenants that one session serves the first lines are compared by priority, first in
// line, the tenant's turn, time, id.
// A claim costs the same however many lines there are. Only a copy, as Fronts is, which tells it
// the head of each line; turns begin anew with it.
//
// Lines are grouped by share and queue, once for all of them and once for each kind of job and of
// submitter. A claim raises the rank of its queue and of its share, in all of their groups. So what
// a group has as its key is a lower bound (ranks never fall): one that turns out too low is
// corrected when it comes first.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/job/turns.h"
#include "core/ownership/claim.h"
#include "store/engine/state/shapes.h"

namespace perdure::store {

class Ranking {
public:
    struct Head {
        QueuePosition order;
        ShapeId shape = 0;

        friend auto operator<=>(const Head&, const Head&) = default;
    };
    struct Key {
        std::uint8_t priority = 0;
        bool in_turn = true;
        TurnRank queue;
        TurnRank share;
        ServiceTime since;
        JobId job;

        friend constexpr auto operator<=>(const Key&, const Key&) = default;
    };

    // All jobs wait that the shapes count.
    Ranking(const Shapes& shapes, QueueWeights weights);
    Ranking(const Ranking&) = delete;
    Ranking& operator=(const Ranking&) = delete;

    // A job came into the line, or left it, whether its head is known or not.
    void enter(ShapeId id) { add_jobs(id, 1); }
    void leave(ShapeId id);
    // Empty: nobody should find it.
    void list(ShapeId id, const std::optional<QueuePosition>& head);
    // Called after it was paused or resumed in the shapes.
    void note_pause(const std::string& tenant, const std::string& queue);
    void charge(ShapeId id);  // for a claim from this line, before its job leaves

    // Of all lines that are listed and do not stand still. Empty if there is none.
    std::optional<Head> first(const Offer& offer);
    bool goes_before(const Head& a, const Head& b);
    // The heads of lines that will be first soon, after so many claims; some may come earlier or
    // later, or be none of the offer's. For those who fetch ahead.
    std::vector<Head> soon(const Offer& offer, std::size_t max) const;

private:
    Key key_of(const Head& head);
    // Members by lower bounds of their keys.
    template <class Member>
    class Candidates {
    public:
        bool empty() const { return entries_.empty(); }
        void lower(Member& member, const Key& key);  // or add it; a higher key is left for later
        void remove(Member& member);
        Member* first();  // with its key corrected
        std::size_t size() const { return entries_.size(); }
        const std::set<std::pair<Key, Member*>>& entries() const { return entries_; }

    private:
        using Entry = std::pair<Key, Member*>;
        void raise(Member& member, const Key& key);

        std::set<Entry> entries_;
    };
    struct Queue;
    struct Share;
    // A queue's lines of one kind and submitter, by share; or its shares with all of them.
    template <class Member>
    struct Group {
        Queue* queue = nullptr;
        Candidates<Group>* among = nullptr;  // the tenant's
        Candidates<Member> members;
        std::optional<Key> at;
    };
    struct Line {
        ShapeId shape = 0;
        Share* share = nullptr;
        Group<Line>* of_kind = nullptr;
        std::optional<QueuePosition> head;
        std::optional<Key> at;
    };
    struct Share {
        Queue* queue = nullptr;
        Turn turn;
        std::uint64_t jobs = 0;
        std::set<std::pair<QueuePosition, Line*>> lines;  // that are listed, exactly
        std::optional<Key> at;
    };
    // Of a job, and of who submitted it (U3).
    struct KindOrder {
        using is_transparent = void;
        using Name = std::pair<std::string_view, SubmitterKind>;
        template <class A, class B>
        bool operator()(const A& a, const B& b) const {
            return Name(a.first, a.second) < Name(b.first, b.second);
        }
    };
    template <class Value>
    using ByKind = std::map<std::pair<std::string, SubmitterKind>, Value, KindOrder>;
    struct Tenant;
    struct Queue {
        Tenant* tenant = nullptr;
        Turn turn;
        std::uint64_t jobs = 0;
        bool is_paused = false;
        Turns turns;  // of its shares
        std::map<std::string, Share> shares;
        Group<Share> all;
        ByKind<Group<Line>> kinds;
    };
    struct Tenant {
        Turn turn;
        std::uint64_t jobs = 0;
        Turns turns;  // of its queues
        std::map<std::string, Queue> queues;
        Candidates<Group<Share>> all;
        ByKind<Candidates<Group<Line>>> kinds;
    };

    static Key key_of(const QueuePosition& order, const Share& share);
    static Key current(Line& line);
    static Key current(Share& share);
    template <class Member>
    static Key current(Group<Member>& group);
    static Line& line_of(Line& line) { return line; }
    static Line& line_of(Share& share) { return *share.lines.begin()->second; }
    template <class Member>
    static Line& line_of(Group<Member>& group);
    template <class Member>
    static void offer(Group<Member>& group, Member& member);
    template <class Member>
    static void withdraw(Group<Member>& group, Member& member);
    template <class Member>
    static void note_pause(Group<Member>& group);

    struct First;
    struct Soon;
    Line& line(ShapeId id);
    Queue& queue_of(Tenant& tenant, const Shape& shape);
    bool stands_still(const std::string& tenant, const std::string& queue) const;
    void add_jobs(ShapeId id, std::uint64_t jobs);
    void consider(Tenant& tenant, First& first);
    static void consider(const Tenant& tenant, const Offer& offer, Soon& soon);
    bool tenant_goes_before(const Head& a, const Head& b);

    const Shapes& shapes_;
    const QueueWeights weights_;
    Turns turns_;  // of tenants
    std::map<std::string, Tenant> tenants_;
    std::vector<std::unique_ptr<Line>> lines_;  // the shape with number n is at n - 1
};

}  // namespace perdure::store
