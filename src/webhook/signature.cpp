#include "webhook/signature.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/words.h"
#include "wire/base64.h"

namespace perdure {
namespace {

constexpr std::size_t secret_min = 24;
constexpr std::size_t secret_max = 64;
constexpr std::size_t file_max = 16 * 1024;

std::string hmac_sha256(const Secret& secret, const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
    unsigned size = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes, text.size(),
           code.data(), &size);
    return {reinterpret_cast<const char*>(code.data()), size};
}

class File {
public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace

std::string signature_of(const std::vector<Secret>& secrets, const Signed& what) {
    std::string text(what.id);
    text += "." + std::to_string(what.timestamp) + ".";
    text += what.body;
    std::string all;
    for (const auto& secret : secrets) {
        if (!all.empty()) all += ' ';
        all += "v1," + base64_text(hmac_sha256(secret, text));
    }
    return all;
}

Result<std::vector<Secret>> parse_secrets(std::string_view text) {
    std::vector<Secret> secrets;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = trimmed(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (line.empty()) continue;
        if (line.starts_with("whsec_")) line.remove_prefix(6);
        auto bytes = base64_bytes(line);
        if (!bytes || bytes->size() < secret_min || bytes->size() > secret_max)
            return error(Errc::invalid,
                         "each line of it must be base 64 of 24 to 64 bytes, as made by "
                         "`openssl rand -base64 32`");
        secrets.push_back(*bytes);
    }
    if (secrets.empty()) return error(Errc::invalid, "it is empty");
    return secrets;
}

Result<std::vector<Secret>> read_secrets(const std::string& directory, const std::string& name) {
    const auto path = directory + "/" + name;
    const auto named = "secret `" + name + "` (" + path + "): ";
    const File file(path);
    if (file.fd() < 0) return error(Errc::unavailable, named + ::strerror(errno));
    struct stat about {};
    if (::fstat(file.fd(), &about) != 0 || !S_ISREG(about.st_mode))
        return error(Errc::unavailable, named + "it is no file");
    if (about.st_mode & S_IROTH)
        return error(Errc::invalid, named + "everybody can read it; fix: chmod 600");
    std::string text(file_max, '\0');
    const auto got = ::read(file.fd(), text.data(), text.size());
    if (got < 0) return error(Errc::unavailable, named + ::strerror(errno));
    text.resize(static_cast<std::size_t>(got));
    auto secrets = parse_secrets(text);
    if (!secrets) return error(Errc::invalid, named + secrets.error().what);
    return secrets;
}

}  // namespace perdure
