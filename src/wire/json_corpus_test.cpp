// Every document of tests/data/json gets the verdict that its name says, and what comes of it by a
// few changes gets the verdict that another parser gives.
//   y_  is JSON      n_  is not      q_  only between our own programs
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "wire/testing/json_agreement.h"

namespace perdure::json_corpus_test {
namespace {

using json_testing::agrees;
using Manner = JsonTree::Manner;

// By the names of their files: the same order everywhere.
std::map<std::string, std::string> documents() {
    std::map<std::string, std::string> all;
    for (const auto& entry :
         std::filesystem::directory_iterator(PERDURE_SOURCE_DIR "/tests/data/json")) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        all[entry.path().filename()] = text.str();
    }
    return all;
}

bool is_taken(const std::string& text, Manner manner) {
    JsonTree tree;
    return tree.read(text, manner);
}

TEST(JsonCorpus, gets_the_verdicts_that_it_should) {
    std::map<char, int> kinds;
    for (const auto& [name, text] : documents()) {
        ++kinds[name[0]];
        EXPECT_EQ(is_taken(text, Manner::strict), name[0] == 'y') << name;
        EXPECT_EQ(is_taken(text, Manner::quick), name[0] != 'n') << name;
        EXPECT_TRUE(agrees(text)) << name;
    }
    EXPECT_GE(kinds['y'], 60);
    EXPECT_GE(kinds['q'], 15);
    EXPECT_GE(kinds['n'], 130);
}

// A reader that stops at the end of a view, not at a NUL behind it.
TEST(JsonCorpus, is_refused_when_its_end_is_missing) {
    for (const auto& [name, text] : documents()) {
        const bool has_end = text.ends_with(']') || text.ends_with('}') || text.ends_with('"');
        if (name[0] == 'n' || !has_end) continue;
        for (std::size_t size = 0; size < text.size(); size += 1 + text.size() / 64) {
            JsonTree tree;
            EXPECT_FALSE(tree.read(std::string_view(text).substr(0, size), Manner::quick))
                << name << " up to " << size;
        }
    }
}

TEST(JsonCorpus, may_be_large) {
    const std::string text(std::size_t{1} << 20U, 'x');
    EXPECT_TRUE(is_taken("\"" + text + "\"", Manner::strict));
    EXPECT_FALSE(is_taken("\"" + text, Manner::strict));
    EXPECT_FALSE(is_taken("\"" + text + "\n\"", Manner::strict));
    EXPECT_TRUE(agrees("\"" + text + "\\n\xC3\xA9\""));
    std::string names = "{";
    for (int i = 0; i < 20'000; ++i) names += "\"n" + std::to_string(i) + "\":" + "0,";
    EXPECT_TRUE(is_taken(names + "\"n\":0}", Manner::strict));
    EXPECT_FALSE(is_taken(names + "\"n7\":0}", Manner::strict));
    EXPECT_TRUE(is_taken(names + "\"n7\":0}", Manner::quick));
    EXPECT_FALSE(is_taken(std::string(1'000'000, '['), Manner::quick));
}

// Each of these has made a parser somewhere do something else.
const std::vector<std::string> pieces = {
    "{",    "}",           "[",        "]",        ",",        ":",
    "\"",   "\\",          "\\u",      "\\u0000",  "\\ud800",  "\\udc00",
    "\\n",  "0",           "-",        "1e9",      "1E-999",   ".5",
    "e+",   "99999999999", "null",     "true",     "\"a\":1,", "{\"a\":",
    " ",    "\t",          "\xC3\xA9", "\xF0\x9F", "\x80",     "\xED\xA0\x80",
    "\x01", "\x7F",
};

class Mutator {
public:
    explicit Mutator(const std::map<std::string, std::string>& documents) {
        // Good ones more often: what is nearly right reaches further than what was wrong before.
        for (const auto& [name, text] : documents)
            if (text.size() < 2'000) texts_.insert(texts_.end(), name[0] == 'n' ? 1 : 6, text);
    }

    std::string next() {
        auto text = texts_[below(texts_.size())];
        for (auto changes = 1 + below(3); changes > 0; --changes) change(text);
        return text;
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    void change(std::string& text) {
        const auto at = below(text.size() + 1);
        switch (below(6)) {
            case 0: text.insert(at, pieces[below(pieces.size())]); return;
            case 1: text.erase(at, 1 + below(4)); return;
            case 2: text.insert(at, 1, static_cast<char>(below(256))); return;
            case 3: text.insert(at, text.substr(below(text.size() + 1), below(12))); return;
            case 4: {  // put into another document
                const auto& other = texts_[below(texts_.size())];
                const auto place = below(other.size() + 1);
                text = other.substr(0, place) + text + other.substr(place);
                return;
            }
            default:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
        }
    }

    std::mt19937_64 random_{20'261'117};  // the same documents in every run
    std::vector<std::string> texts_;
};

TEST(JsonFuzz, agrees_with_another_parser_about_changed_documents) {
    Mutator mutator(documents());
    std::size_t taken = 0;
    for (int i = 0; i < 150'000; ++i) {
        const auto text = mutator.next();
        ASSERT_TRUE(agrees(text)) << "document " << i;
        if (is_taken(text, Manner::quick)) ++taken;
    }
    // Else it would only show that both refuse noise.
    EXPECT_GT(taken, 20'000U);
}

}  // namespace
}  // namespace perdure::json_corpus_test
