#include "processes/disk/secrets.h"

#include <sys/stat.h>

#include "core/job/secret.h"
#include "processes/disk/posix.h"

namespace perdure {
namespace {

constexpr std::size_t all_values_max = std::size_t{1} << 20;
constexpr mode_t written_by_others = S_IWGRP | S_IWOTH;
constexpr mode_t of_others = S_IRWXG | S_IRWXO;

// Why what is open is not safe to use; empty: it is.
std::string why_unsafe(const Fd& file, mode_t forbidden, const char* fix) {
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return ::strerror(errno);
    if (about.st_uid != ::geteuid() && about.st_uid != 0)
        return "it belongs to uid " + std::to_string(about.st_uid) +
               "; fix: give it to the worker's user or to root";
    if (about.st_mode & forbidden) return std::string("others may use it; fix: ") + fix;
    return {};
}

class SecretFolder {
public:
    // overloaded: there is none, or it is not safe.
    static Result<SecretFolder> open(const std::string& path) {
        SecretFolder folder;
        folder.path_ = path;
        folder.folder_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
        auto why = folder.folder_ ? why_unsafe(folder.folder_, written_by_others, "chmod 700")
                                  : std::string(::strerror(errno));
        if (why.empty()) return folder;
        return error(Errc::overloaded, "worker.secrets (" + path + "): " + why);
    }

    Result<std::string> value(std::string_view key, const JobSpec& job) const {
        const std::string name(key);
        auto list = read(name + std::string(secret_list_suffix), secret_list_max);
        if (!list) return list.error();
        const auto rules = parse_secret_rules(*list);
        if (!rules)
            return error(Errc::overloaded,
                         named(name + std::string(secret_list_suffix)) + rules.error().what);
        if (!decide_secret_use(job, *rules).allowed)
            return error(Errc::invalid, "secret `" + name +
                                            "` is not for this job: no line of its list on this "
                                            "worker fits tenant, queue and kind");
        auto value = read(name, secret_value_max);
        // An editor's last line end is not part of it.
        if (value && value->ends_with('\n')) value->pop_back();
        if (value && value->find('\0') != std::string::npos)
            return error(Errc::overloaded, named(name) + "it has a NUL in it");
        return value;
    }

private:
    Result<std::string> read(const std::string& name, std::size_t max) const {
        const Fd file(
            ::openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
        auto why = !file ? std::string(errno == ELOOP ? "it is a symlink" : ::strerror(errno))
                         : why_unsafe(file, of_others, "chmod 600");
        if (!why.empty()) return error(Errc::overloaded, named(name) + why);
        auto text = read_open_file(file.get(), max);
        if (text) return std::move(*text);
        return error(Errc::overloaded,
                     named(name) + "it is no file of at most " + std::to_string(max) + " bytes");
    }
    std::string named(const std::string& name) const {
        return "secret `" + name + "` (" + path_ + "/" + name + "): ";
    }

    Fd folder_;
    std::string path_;
};

}  // namespace

Result<void> fetch_secrets(const std::string& folder, const JobSpec& job, Order& order) {
    std::optional<SecretFolder> opened;
    std::size_t size = 0;
    for (auto& [name, value] : order.secrets) {
        if (const auto key = secret_key_in(value)) {
            if (!opened) {
                auto found = SecretFolder::open(folder);
                if (!found) return found.error();
                opened = std::move(*found);
            }
            auto secret = opened->value(*key, job);
            if (!secret) return secret.error();
            value = std::move(*secret);
        }
        size += name.size() + value.size();
        if (size > all_values_max)
            return error(Errc::invalid, "the secrets of the job have more than 1 MiB");
    }
    return {};
}

}  // namespace perdure
