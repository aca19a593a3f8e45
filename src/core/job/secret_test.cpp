#include "core/job/secret.h"

#include <gtest/gtest.h>

#include "core/job/submit.h"

namespace perdure::secret_test {
namespace {

TEST(LooksSecret, goes_by_the_words_of_a_name) {
    for (const auto* name :
         {"PASSWORD", "DB_PASSWORD", "pgpassword", "MYSQL_PWD", "GITHUB_TOKEN", "TOKENS", "SECRET",
          "CLIENT_SECRET", "API_KEY", "APIKEY", "AWS_ACCESS_KEY_ID", "ssh-key", "GPG_PASSPHRASE",
          "GOOGLE_CREDENTIALS", "BASIC_AUTH", "DB_PASS", "SSL_KEYS", "CARD_PIN"})
        EXPECT_TRUE(looks_secret(name, "x")) << name;
    for (const auto* name : {"PATH", "HOME", "KEYBOARD", "PWD", "OLDPWD", "COMPASS", "AUTHOR",
                             "SPIN", "LANG", "A", "PASSENGERS", "KEYSTONE_URL"})
        EXPECT_FALSE(looks_secret(name, "x")) << name;
}

TEST(LooksSecret, knows_a_password_in_a_url_whatever_the_name) {
    for (const auto* value :
         {"postgres://app:hunter2@db/orders", "dsn=https://u:p@h", "a://b c://d:e@f", "x://:p@h"})
        EXPECT_TRUE(looks_secret("URL", value)) << value;
    for (const auto* value : {"postgres://app@db/orders", "https://h:80/a@b", "https://h/?q=a:b@c",
                              "://", "a://b:@c", "mail a:b@c", ""})
        EXPECT_FALSE(looks_secret("URL", value)) << value;
}

TEST(ShownValue, masks_values_and_shows_references) {
    EXPECT_EQ(shown_value("DB_PASSWORD", "hunter2"), masked_value);
    EXPECT_EQ(shown_value("DB_PASSWORD", ""), "");
    EXPECT_EQ(shown_value("DB_PASSWORD", "secret://db"), "secret://db");
    EXPECT_EQ(shown_value("DB_PASSWORD", "secret://Not A Key"), masked_value);
    EXPECT_EQ(shown_value("MODE", "fast"), "fast");
}

TEST(SecretKey, is_a_name_and_never_that_of_a_list) {
    EXPECT_EQ(secret_key_in("secret://db.password"), "db.password");
    for (const auto* value : {"secret://", "secret://../x", "secret://a/b", "secret://DB",
                              "secret://db.allow", "secrets://db", "db", ""})
        EXPECT_FALSE(secret_key_in(value)) << value;
}

TEST(CheckSpec, refuses_a_mask_that_comes_back_and_a_reference_to_nothing) {
    const auto refused = [](std::string value) {
        return check_spec({.argv = {"true"}, .env = {{"DB_PASSWORD", std::move(value)}}});
    };
    ASSERT_TRUE(refused("(masked)"));
    EXPECT_NE(refused("(masked)")->what.find("DB_PASSWORD"), std::string::npos);
    EXPECT_TRUE(refused("secret://../etc/shadow"));
    EXPECT_TRUE(refused("secret://db.allow"));
    EXPECT_FALSE(refused("secret://db"));
    EXPECT_FALSE(refused("hunter2"));
}

JobSpec job(const char* tenant, const char* queue, const char* kind) {
    return {.tenant = tenant, .queue = queue, .kind = kind};
}

// Two values of each fact, and every rule that can be made of them: 8 jobs, 27 rules.
TEST(DecideSecretUse, a_line_allows_exactly_the_jobs_that_fit_all_of_it) {
    const std::array<const char*, 3> conditions = {"", "a", "b"};
    for (const auto* tenant : conditions)
        for (const auto* queue : conditions)
            for (const auto* kind : conditions) {
                std::string line = "# a list\n";
                if (*tenant) line += std::string("tenant=") + tenant + " ";
                if (*queue) line += std::string("queue=") + queue + "\t";
                if (*kind) line += std::string("kind=") + kind;
                if (line.ends_with("\n")) line += "all";
                const auto rules = parse_secret_rules(line);
                ASSERT_TRUE(rules) << line;
                ASSERT_EQ(rules->size(), 1U) << line;
                const auto fits = [](const char* wanted, const char* found) {
                    return !*wanted || std::string_view(wanted) == found;
                };
                for (const auto* t : {"a", "b"})
                    for (const auto* q : {"a", "b"})
                        for (const auto* k : {"a", "b"}) {
                            const auto use = decide_secret_use(job(t, q, k), *rules);
                            EXPECT_EQ(use.allowed,
                                      fits(tenant, t) && fits(queue, q) && fits(kind, k))
                                << line << t << q << k;
                            EXPECT_EQ(use.line, use.allowed ? 2U : 0U);
                        }
            }
}

TEST(DecideSecretUse, without_a_line_nobody_may) {
    for (const auto* text : {"", "\n", "# all\n", "  # queue=a\n\n"}) {
        const auto rules = parse_secret_rules(text);
        ASSERT_TRUE(rules) << text;
        EXPECT_FALSE(decide_secret_use(job("a", "a", "a"), *rules).allowed) << text;
    }
}

TEST(DecideSecretUse, an_empty_kind_means_commands) {
    const auto rules = parse_secret_rules("kind=\n");
    ASSERT_TRUE(rules);
    EXPECT_TRUE(decide_secret_use(job("a", "a", ""), *rules).allowed);
    EXPECT_FALSE(decide_secret_use(job("a", "a", "b"), *rules).allowed);
}

TEST(SecretRules, a_line_that_is_not_understood_is_named) {
    for (const auto* text :
         {"all\nevery queue", "all\nall queue=a", "all\nqueue=", "all\nqueue=a,b",
          "all\nqueue=a queue=b", "all\nuser=root", "all\nqueue =a"}) {
        const auto rules = parse_secret_rules(text);
        ASSERT_TRUE(rules.is(Errc::invalid)) << text;
        EXPECT_NE(rules.error().what.find("line 2"), std::string::npos) << rules.error().what;
    }
}

}  // namespace
}  // namespace perdure::secret_test
