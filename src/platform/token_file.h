// TokenFile: the tokens of an instance in `tokens` in its data directory, read once and written as
// a whole at each change. Of a secret, 256 random bits, only the SHA-256 is kept.
//   A5  No secret can be read from what is stored, and none is found by the time that a look takes.
// The file: a first line that names the format, then one token a line, its words between spaces:
// hash, name, role, tenant or `-`, microseconds of creation and expiry (0: never), and who made it.
// To change it: raise the number in the first line, and read both.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "ports/access.h"
#include "ports/random.h"

namespace perdure {

class TokenFile final : public Tokens {
public:
    static constexpr std::size_t tokens_max = 1'000;

    // In this directory. corrupt: the file cannot be understood.
    static Result<std::unique_ptr<TokenFile>> open(const std::string& directory, Random& random);

    const Token* find(std::string_view secret) const override;
    std::vector<Token> list() const override;
    Result<std::string> create(Token token) override;
    Result<void> revoke(std::string_view name) override;

private:
    using Hash = std::array<unsigned char, 32>;
    struct Entry {
        Hash hash{};
        Token token;
    };
    TokenFile(std::string directory, Random& random)
        : directory_(std::move(directory)), random_(random) {}
    static Hash hash_of(std::string_view secret);
    static std::optional<Entry> read_line(const std::string& line);
    static std::string line_of(const Entry& entry);
    Result<void> load();
    Result<void> save(const std::vector<Entry>& entries) const;
    void use(std::vector<Entry> entries);

    std::string directory_;
    Random& random_;
    std::vector<Entry> entries_;
    std::multimap<std::uint64_t, std::size_t> by_prefix_;  // of the hash, which nobody can choose
};

}  // namespace perdure
