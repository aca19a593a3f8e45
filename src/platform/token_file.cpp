#include "platform/token_file.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <cstring>
#include <sstream>

#include "shim/format/attempt_files.h"
#include "shim/format/fd.h"

namespace perdure {
namespace {

constexpr auto file_name = "tokens";
constexpr std::string_view first_line = "perdure tokens 1";
constexpr std::size_t file_max = std::size_t{4} << 20;
constexpr std::size_t secret_words = 4;  // of 64 bits each
constexpr std::size_t secret_max = 200;

std::uint64_t prefix_of(const std::array<unsigned char, 32>& hash) {
    std::uint64_t prefix = 0;
    std::memcpy(&prefix, hash.data(), sizeof prefix);
    return prefix;
}

Error cannot_write(const std::string& directory, int why) {
    return error(Errc::unavailable, fmt::format("{}/{} cannot be written: {}", directory, file_name,
                                                std::strerror(why)));
}

}  // namespace

TokenFile::Hash TokenFile::hash_of(std::string_view secret) {
    Hash hash{};
    SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), hash.data());
    return hash;
}

std::optional<TokenFile::Entry> TokenFile::read_line(const std::string& line) {
    std::istringstream words(line);
    Entry entry;
    std::string hash;
    std::string role;
    std::int64_t created = 0;
    std::int64_t expires = 0;
    auto& token = entry.token;
    if (!(words >> hash >> token.name >> role >> token.tenant >> created >> expires))
        return std::nullopt;
    const auto known = role_named(role);
    if (!known || hash.size() != entry.hash.size() * 2) return std::nullopt;
    for (std::size_t i = 0; i < entry.hash.size(); ++i) {
        unsigned byte = 0;
        if (std::sscanf(hash.c_str() + i * 2, "%2x", &byte) != 1) return std::nullopt;
        entry.hash[i] = static_cast<unsigned char>(byte);
    }
    token.role = *known;
    if (token.tenant == "-") token.tenant.clear();
    token.created_at = WallTime{created};
    if (expires != 0) token.expires_at = WallTime{expires};
    std::getline(words >> std::ws, token.created_by);
    return entry;
}

std::string TokenFile::line_of(const Entry& entry) {
    std::string line;
    for (const auto byte : entry.hash) line += fmt::format("{:02x}", byte);
    const auto& token = entry.token;
    line += fmt::format(" {} {} {} {} {} {}\n", token.name, to_string(token.role),
                        token.tenant.empty() ? "-" : token.tenant, token.created_at.us,
                        token.expires_at ? token.expires_at->us : 0, token.created_by);
    return line;
}

Result<std::unique_ptr<TokenFile>> TokenFile::open(const std::string& directory, Random& random) {
    std::unique_ptr<TokenFile> file(new TokenFile(directory, random));
    if (auto loaded = file->load(); !loaded) return loaded.error();
    return file;
}

// A line that cannot be understood is a token that nobody has.
Result<void> TokenFile::load() {
    const auto path = directory_ + "/" + file_name;
    if (::access(path.c_str(), F_OK) != 0) return {};
    const auto text = read_file(AT_FDCWD, path.c_str(), file_max);
    std::istringstream lines(text.value_or(""));
    std::string line;
    if (!std::getline(lines, line) || line != first_line)
        return error(Errc::corrupt, path +
                                        " is no list of tokens that this program can read: "
                                        "put it back, or remove it, which revokes all tokens");
    std::vector<Entry> entries;
    while (std::getline(lines, line) && entries.size() < tokens_max)
        if (auto entry = read_line(line)) entries.push_back(std::move(*entry));
    use(std::move(entries));
    return {};
}

void TokenFile::use(std::vector<Entry> entries) {
    entries_ = std::move(entries);
    by_prefix_.clear();
    for (std::size_t i = 0; i < entries_.size(); ++i)
        by_prefix_.emplace(prefix_of(entries_[i].hash), i);
}

Result<void> TokenFile::save(const std::vector<Entry>& entries) const {
    std::string text = std::string(first_line) + "\n";
    for (const auto& entry : entries) text += line_of(entry);
    const Fd folder(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return cannot_write(directory_, errno);
    if (const int failed = attempt_files::write_durably(folder.get(), file_name, text))
        return cannot_write(directory_, failed);
    return {};
}

const Token* TokenFile::find(std::string_view secret) const {
    if (secret.empty() || secret.size() > secret_max) return nullptr;
    const auto hash = hash_of(secret);
    const auto [first, last] = by_prefix_.equal_range(prefix_of(hash));
    for (auto at = first; at != last; ++at) {
        const auto& entry = entries_[at->second];
        if (CRYPTO_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) return &entry.token;
    }
    return nullptr;
}

std::vector<Token> TokenFile::list() const {
    std::vector<Token> tokens;
    for (const auto& entry : entries_) tokens.push_back(entry.token);
    return tokens;
}

Result<std::string> TokenFile::create(Token token) {
    if (entries_.size() >= tokens_max)
        return error(Errc::overloaded,
                     fmt::format("there are {} tokens: revoke some first", tokens_max));
    for (const auto& entry : entries_)
        if (entry.token.name == token.name)
            return error(Errc::conflict, "there is a token " + token.name +
                                             " already: revoke it first, or choose another name");
    std::string secret = "perdure_";
    for (std::size_t i = 0; i < secret_words; ++i) secret += fmt::format("{:016x}", random_.next());
    auto entries = entries_;
    entries.push_back({hash_of(secret), std::move(token)});
    if (auto saved = save(entries); !saved) return saved.error();
    use(std::move(entries));
    return secret;
}

Result<void> TokenFile::revoke(std::string_view name) {
    auto entries = entries_;
    const auto gone =
        std::erase_if(entries, [&](const Entry& entry) { return entry.token.name == name; });
    if (gone == 0) return error(Errc::not_found, "there is no token " + std::string(name));
    if (auto saved = save(entries); !saved) return saved.error();
    use(std::move(entries));
    return {};
}

}  // namespace perdure
