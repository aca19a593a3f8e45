#include "store/engine/rows/codec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/engine/failure.h"

namespace perdure::store {
namespace {

// As a release wrote them that had every field in its forms: rich_spec(), rich_job() and its
// attempt.
constexpr std::string_view spec_of_form_4 =
    "040461636d65056e696768740672656e64657203027368022d630474727565077b2261223a317d01"
    "04484f4d45042f746d70042f7372764d090201016b0203677075036e6574018080f2818389850602"
    "03018092f40180fcfd820414076361726566756c0101000201960104627573790480ade20480c2d7"
    "2f010a01030280a0bad23580d4d4ab010180e892260180d0918e86010180ecb80b01096f6e63652d"
    "6f6e6c79012901014b040764656661756c740764656661756c740474656c6c000000008080800805"
    "0000000000000280897a80909de91a0000000080809d8e9a238080bbdd8305000000000000000000"
    "000000000107020108020501808040019601014001020180b0d7bb50";
constexpr std::string_view life_of_form_1 =
    "0107030280d1ca08030c3f030211020b0c01010180aaea5580bfd6060c4f372f6578636c75736976"
    "6580ade2048080f28183898506060c45322f736f6d655f72756c650001ee01118094ddde86898506"
    "026300021500c0eedf8283898506c09afe81838985060105737461746502";
constexpr std::string_view attempt_of_form_1 =
    "013f030211020b0c01010180aaea5580bfd6060c4f372f6578636c757369766580ade2048080f281"
    "83898506060c45322f736f6d655f72756c650001ee01118094ddde86898506026300021500c0eedf"
    "8283898506c09afe81838985060105737461746502";

std::string bytes_of(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

std::string hex_of(std::string_view bytes) {
    std::string hex;
    for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return hex;
}

CustomRule rich_rule() {
    return {.causes = {Cause::exit},
            .exit_codes = {-1, 75},
            .text = "busy",
            .times = 4,
            .wait = seconds(5),
            .wait_max = seconds(50),
            .growth = Growth::linear,
            .jitter_percent = 10,
            .another_worker = true,
            .then = LastResort::cancel};
}

PolicyChoice rich_policy() {
    return {.name = PolicyName::forever,
            .retries = 3,
            .retry_wait = seconds(2),
            .growth = Growth::linear,
            .retry_wait_max = minutes(9),
            .jitter_percent = 20,
            .custom = "careful",
            .rules = {rich_rule()},
            .level = PolicyLevel::queue};
}

JobSpec rich_spec() {
    JobSpec spec{.tenant = "acme", .queue = "night", .kind = "render"};
    spec.argv = {"sh", "-c", "true"};
    spec.args = R"({"a":1})";
    spec.env = {{"HOME", "/tmp"}};
    spec.cwd = "/srv";
    spec.output_max = 77;
    spec.priority = 9;
    spec.effects = Effects::once;
    spec.key = "k";
    spec.limits = {"gpu", "net"};
    spec.run_at = WallTime{1'700'000'000'000'000};
    spec.policy = rich_policy();
    spec.timeouts = {.queue = hours(2), .run = minutes(3), .idle = seconds(40), .total = hours(5)};
    spec.hold = seconds(12);
    spec.idempotency_key = "once-only";
    spec.keep_key = hours(3);
    spec.retry_of = JobId{41};
    spec.callbacks = {{Trigger::failure, std::make_shared<const JobSpec>(JobSpec{.kind = "tell"})}};
    spec.after = {{JobId{7}, Trigger::end}};
    spec.callback_of = CallbackOf{JobId{8}, 2, 5};
    spec.resources = {.memory = 1 << 20, .cpu_percent = 150, .processes = 64};
    spec.failure_level = Level::warn;
    spec.share = "ann";
    return spec;
}

AttemptRow rich_attempt() {
    AttemptRow attempt{.epoch = Epoch{3},
                       .generation = 2,
                       .assignment = 17,
                       .owners = {SessionId{11}, SessionId{12}}};
    attempt.terms = {.isolation = Isolation::exclusive,
                     .effects = Effects::resumable,
                     .asks = true,
                     .hold = seconds(90),
                     .release_after = seconds(7),
                     .rule = "O7/exclusive"};
    attempt.start_committed = true;
    attempt.clean = true;
    attempt.claimed_at = ServiceTime{5'000'000};
    attempt.claimed_on = WallTime{1'700'000'000'000'000};
    attempt.progress_number = 6;
    attempt.end = AttemptEnd{.cause = Cause::exit,
                             .ran = Ran::maybe,
                             .clean = true,
                             .reported = true,
                             .alone = true,
                             .counted = false,
                             .exit_code = -9,
                             .at = WallTime{1'700'000'500'000'000},
                             .matched = 2,
                             .policy_fingerprint = 99};
    attempt.late_result =
        AttemptEnd{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
    attempt.rule = "E2/some_rule";
    attempt.started_on = WallTime{1'700'000'000'100'000};
    attempt.ended_on = WallTime{1'700'000'000'900'000};
    attempt.checkpoint = {BlobRef::Where::here, "state"};
    attempt.evidence = {BlobRef::Where::apart, {}};
    return attempt;
}

JobRow rich_job() {
    JobRow job;
    job.epoch = Epoch{3};
    job.generation = 2;
    job.total_deadline = ServiceTime{9'000'000};
    job.presumed_lost = JobRow::PresumedLost{Epoch{3}, SessionId{12}};
    job.attempts = {rich_attempt()};
    job.earlier = {.counted_by = 99,
                   .counts = {.of = {1, 0, 2}, .did_not_run_in_a_row = 3, .of_rules = {0, 4}},
                   .checkpoint = Epoch{2}};
    return job;
}

// As releases wrote it that did not carry what earlier attempts had left.
JobRow rich_job_without_earlier() {
    auto job = rich_job();
    job.earlier.reset();
    return job;
}

JobRow unattempted_job() {
    JobRow job;
    job.earlier.emplace();
    job.watched = false;
    return job;
}

// The no-op of the bench while it runs, and when it has succeeded.
JobRow usual_job(bool ended) {
    AttemptRow attempt{.epoch = Epoch{1},
                       .generation = 1,
                       .assignment = 20,
                       .owners = {SessionId{3'763'903'846'000'000'000}}};
    attempt.terms = {.hold = minutes(5), .rule = "O7/fenced"};
    attempt.claimed_at = ServiceTime{60'000'000};
    attempt.claimed_on = WallTime{1'700'000'000'000'000};
    if (ended) {
        attempt.end =
            AttemptEnd{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
        attempt.rule = "E1/succeeded";
        attempt.ended_on = WallTime{1'700'000'000'003'000};
    }
    JobRow job;
    job.epoch = Epoch{1};
    job.attempts = {attempt};
    job.earlier.emplace();
    job.watched = false;
    return job;
}

void expect_same(const JobSpec& a, const JobSpec& b) {
    EXPECT_EQ(a.tenant, b.tenant);
    EXPECT_EQ(a.queue, b.queue);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.argv, b.argv);
    EXPECT_EQ(a.args, b.args);
    EXPECT_EQ(a.env, b.env);
    EXPECT_EQ(a.cwd, b.cwd);
    EXPECT_EQ(a.output_max, b.output_max);
    EXPECT_EQ(a.priority, b.priority);
    EXPECT_EQ(a.effects, b.effects);
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.limits, b.limits);
    EXPECT_EQ(a.run_at, b.run_at);
    EXPECT_EQ(a.policy, b.policy);
    EXPECT_EQ(a.timeouts.queue, b.timeouts.queue);
    EXPECT_EQ(a.timeouts.run, b.timeouts.run);
    EXPECT_EQ(a.timeouts.idle, b.timeouts.idle);
    EXPECT_EQ(a.timeouts.total, b.timeouts.total);
    EXPECT_EQ(a.hold, b.hold);
    EXPECT_EQ(a.idempotency_key, b.idempotency_key);
    EXPECT_EQ(a.keep_key, b.keep_key);
    EXPECT_EQ(a.retry_of, b.retry_of);
    EXPECT_EQ(a.share, b.share);
    EXPECT_EQ(a.after, b.after);
    EXPECT_EQ(a.callback_of, b.callback_of);
    EXPECT_EQ(a.resources, b.resources);
    EXPECT_EQ(a.failure_level, b.failure_level);
    ASSERT_EQ(a.callbacks.size(), b.callbacks.size());
    for (std::size_t i = 0; i < a.callbacks.size(); ++i) {
        EXPECT_EQ(a.callbacks[i].on, b.callbacks[i].on);
        expect_same(*a.callbacks[i].spec, *b.callbacks[i].spec);
    }
}

void expect_same(const AttemptRow& a, const AttemptRow& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.generation, b.generation);
    EXPECT_EQ(a.assignment, b.assignment);
    EXPECT_EQ(a.owners, b.owners);
    EXPECT_EQ(a.terms, b.terms);
    EXPECT_EQ(a.start_committed, b.start_committed);
    EXPECT_EQ(a.clean, b.clean);
    EXPECT_EQ(a.claimed_at, b.claimed_at);
    EXPECT_EQ(a.claimed_on, b.claimed_on);
    EXPECT_EQ(a.progress_number, b.progress_number);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.late_result, b.late_result);
    EXPECT_EQ(a.rule, b.rule);
    EXPECT_EQ(a.started_on, b.started_on);
    EXPECT_EQ(a.ended_on, b.ended_on);
    EXPECT_EQ(a.checkpoint.where, b.checkpoint.where);
    EXPECT_EQ(a.checkpoint.bytes, b.checkpoint.bytes);
    EXPECT_EQ(a.evidence.where, b.evidence.where);
}

void expect_same(const JobRow& a, const JobRow& b) {
    EXPECT_EQ(a.epoch, b.epoch);
    EXPECT_EQ(a.generation, b.generation);
    EXPECT_EQ(a.total_deadline, b.total_deadline);
    ASSERT_EQ(a.presumed_lost.has_value(), b.presumed_lost.has_value());
    if (a.presumed_lost) {
        EXPECT_EQ(a.presumed_lost->epoch, b.presumed_lost->epoch);
        EXPECT_EQ(a.presumed_lost->session, b.presumed_lost->session);
    }
    ASSERT_EQ(a.attempts.size(), b.attempts.size());
    for (std::size_t i = 0; i < a.attempts.size(); ++i) expect_same(a.attempts[i], b.attempts[i]);
    ASSERT_EQ(a.earlier.has_value(), b.earlier.has_value());
    if (!a.earlier) return;
    EXPECT_EQ(a.earlier->counted_by, b.earlier->counted_by);
    EXPECT_EQ(a.earlier->counts, b.earlier->counts);
    EXPECT_EQ(a.earlier->checkpoint, b.earlier->checkpoint);
}

JobRow life_in(std::string_view bytes) {
    JobRow job;
    decode_life(bytes, job);
    return job;
}

// Every beginning of it, and it with something behind it.
template <class Decode>
void expect_refused_unless_whole(const std::string& bytes, Decode decode) {
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(decode(std::string_view(bytes).substr(0, size)), Failure) << size;
    EXPECT_THROW(decode(bytes + '\1'), Failure);
    EXPECT_NO_THROW(decode(bytes));
}

TEST(Codec, everything_comes_back) {
    expect_same(decode_spec(encode(rich_spec())), rich_spec());
    expect_same(decode_spec(encode(JobSpec{})), JobSpec{});
    EXPECT_EQ(decode_policy(encode(rich_policy())), rich_policy());
    EXPECT_EQ(decode_policy(encode(PolicyChoice{})), PolicyChoice{});
    expect_same(decode_attempt(encode(rich_attempt())), rich_attempt());
    for (const auto& job : {rich_job(), rich_job_without_earlier(), usual_job(false),
                            usual_job(true), unattempted_job()})
        expect_same(life_in(encode_life(job)), job);
}

// Each form, and each part of the newest one alone.
TEST(Codec, what_a_session_has_said_comes_back) {
    const Offer old{.tenant = "t", .queues = {"q"}, .kinds = {"", "k"}};
    std::vector<SessionRow> rows(7);
    for (auto& row : rows) row.slots = 2, row.offer = old;
    rows[1].hearing.unconfirmed = {JobId{3}};
    rows[2].offer.other_tenants = {"u", "v"};
    rows[3].offer.host.limits = Enforceable{.memory = true, .processes = true};
    rows[4].offer.host.limits = Enforceable{};
    rows[5].offer.host.uid = 0;
    rows[6].offer.host = {.limits = Enforceable{.cpu = true}, .uid = 7, .files = "mark"};
    for (const auto& row : rows) {
        SessionRow read{.slots = row.slots};
        read.offer.host.uid = 5;  // of an earlier read
        decode_said(encode_said(row), read);
        EXPECT_EQ(read.offer, row.offer);
        EXPECT_EQ(read.hearing, row.hearing);
    }
}

TEST(Codec, what_earlier_releases_wrote_is_read) {
    auto spec = rich_spec();
    spec.share.clear();  // that came later
    expect_same(decode_spec(bytes_of(spec_of_form_4)), spec);
    expect_same(decode_attempt(bytes_of(attempt_of_form_1)), rich_attempt());
    expect_same(life_in(bytes_of(life_of_form_1)), rich_job_without_earlier());
}

TEST(Codec, a_job_of_an_earlier_form_keeps_the_policy_that_it_was_promised) {
    auto bytes = bytes_of(spec_of_form_4);
    // Form 3 did not say who chose the policy; that stood before the timeouts.
    const std::string queue_timeout = "\x80\xa0\xba\xd2\x35";
    const auto level = bytes.find(queue_timeout) - 1;
    ASSERT_EQ(bytes.at(level), static_cast<char>(PolicyLevel::queue));
    bytes.erase(level, 1);
    bytes.front() = 3;
    const auto earlier = decode_spec(bytes);
    EXPECT_EQ(earlier.policy.level, PolicyLevel::job) << "no worker's goes before it";
    auto policy = rich_policy();
    policy.level = PolicyLevel::job;
    EXPECT_EQ(earlier.policy, policy);
    EXPECT_EQ(earlier.keep_key, rich_spec().keep_key);
}

// These bytes are on disks. If this fails, a usual value has changed: it needs a form of its own.
TEST(Codec, what_is_usual_takes_no_bytes_and_stays_as_it_is) {
    JobSpec noop{.queue = "lives", .kind = "perdure.noop"};
    noop.policy.level = PolicyLevel::server;
    EXPECT_EQ(hex_of(encode(noop)), "0503056c697665730c706572647572652e6e6f6f70");
    EXPECT_EQ(hex_of(encode_life(unattempted_job())), "0300");
    EXPECT_EQ(hex_of(encode_life(usual_job(false))),
              "03e50301140180f8b9ecb1d3849e34809c9c398080f28183898506");
    EXPECT_EQ(hex_of(encode_life(usual_job(true))),
              "03e5fb800401140180f8b9ecb1d3849e34809c9c398080f28183898506f02e");
}

TEST(Codec, that_somebody_waits_is_known_since_form_3) {
    auto job = usual_job(true);
    EXPECT_EQ(life_in(encode_life(job)).watched, false);
    job.watched = true;
    EXPECT_EQ(life_in(encode_life(job)).watched, true);
    job.watched.reset();  // of an earlier release: who writes it anew must not forget anybody
    EXPECT_EQ(life_in(encode_life(job)).watched, true);
    const auto form_2 = bytes_of("02e50301140180f8b9ecb1d3849e34809c9c398080f28183898506");
    EXPECT_EQ(life_in(form_2).watched, std::nullopt);
}

TEST(Codec, bytes_that_are_cut_short_or_go_on_are_refused) {
    expect_refused_unless_whole(encode(rich_spec()), decode_spec);
    expect_refused_unless_whole(bytes_of(spec_of_form_4), decode_spec);
    expect_refused_unless_whole(encode(rich_policy()), decode_policy);
    expect_refused_unless_whole(encode(rich_attempt()), decode_attempt);
    expect_refused_unless_whole(bytes_of(attempt_of_form_1), decode_attempt);
    expect_refused_unless_whole(encode_life(rich_job()), life_in);
    expect_refused_unless_whole(bytes_of(life_of_form_1), life_in);
}

TEST(Codec, a_field_that_is_not_known_is_refused) {
    // Form 5 with the highest bit of all.
    EXPECT_THROW(decode_spec("\x05\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), Failure);
    EXPECT_THROW(decode_spec("\x06\x01"), Failure);
    EXPECT_THROW(life_in(std::string("\x04\0", 2)), Failure);
}

// W1, W2. Rows of releases that knew nothing of it are as long as before.
TEST(Codec, who_submitted_a_job_and_what_people_did_to_it_are_kept) {
    auto spec = rich_spec();
    const auto old = encode(spec);
    EXPECT_EQ(decode_spec(old).submitted_by, Who{});
    EXPECT_FALSE(decode_spec(old).parent);
    spec.submitted_by = {"ann", 1'001};
    spec.parent = AttemptKey{JobId{77}, Epoch{3}};
    const auto read = decode_spec(encode(spec));
    EXPECT_EQ(read.submitted_by, spec.submitted_by);
    EXPECT_EQ(read.parent, spec.parent);
    spec.submitted_by = {"token deploy", std::nullopt};
    EXPECT_EQ(decode_spec(encode(spec)).submitted_by, spec.submitted_by);

    auto job = rich_job();
    EXPECT_TRUE(life_in(encode_life(job)).acts.empty());
    for (const auto kind : {ActKind::hold, ActKind::discard})
        add_act(job.acts, {kind, "ann", WallTime{5}});
    EXPECT_EQ(life_in(encode_life(job)).acts, job.acts);
}

TEST(Codec, an_attempt_without_an_owner_is_refused) {
    auto attempt = rich_attempt();
    attempt.owners.clear();
    EXPECT_THROW(decode_attempt(encode(attempt)), Failure);
}

TEST(Codec, evidence_of_a_version_that_knew_nothing_of_undelivered_output_is_understood) {
    Evidence evidence{R"({"a":1})", "why", "last lines", "host", 1 << 20, seconds(3)};
    const auto old = encode(evidence);
    EXPECT_EQ(decode_evidence(old), evidence);
    evidence.output_undelivered = 4711;
    EXPECT_EQ(decode_evidence(encode(evidence)), evidence);
    EXPECT_TRUE(encode(evidence).starts_with(old));
    evidence.output_undelivered = 0;
    evidence.usage = {milliseconds(1'200), milliseconds(300), 1 << 20, 4096};
    EXPECT_EQ(decode_evidence(encode(evidence)), evidence);
    EXPECT_TRUE(encode(evidence).starts_with(old));
}

}  // namespace
}  // namespace perdure::store
