#include "platform/trusted_path.h"

#include <dirent.h>
#include <fmt/format.h>
#include <limits.h>

#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/access/path_trust.h"
#include "platform/users.h"
#include "shim/format/fd.h"

namespace perdure {
namespace {

constexpr int links_max = 40;
constexpr std::size_t settings_max = std::size_t{1} << 20;

PathFacts facts_of(const struct stat& about, PathRole role) {
    PathFacts facts{.role = role};
    if (about.st_uid == ::geteuid())
        facts.owner = PathFacts::Owner::self;
    else if (about.st_uid == 0)
        facts.owner = PathFacts::Owner::root;
    // For whoever runs as root, the system's directories are root's, not its own.
    if (about.st_uid == 0 && role == PathRole::ancestor) facts.owner = PathFacts::Owner::root;
    if (S_ISDIR(about.st_mode)) facts.kind = PathFacts::Kind::directory;
    if (S_ISREG(about.st_mode)) facts.kind = PathFacts::Kind::file;
    if (S_ISLNK(about.st_mode)) facts.kind = PathFacts::Kind::symlink;
    facts.writable_by_others = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    // Whoever may only pass through a directory sees nothing of it.
    const mode_t passing = S_ISDIR(about.st_mode) ? S_IXGRP | S_IXOTH : 0;
    facts.readable_by_others = (about.st_mode & (S_IRWXG | S_IRWXO) & ~passing) != 0;
    facts.sticky = (about.st_mode & S_ISVTX) != 0;
    return facts;
}

std::string reason(std::string_view rule, const std::string& path, const struct stat& about) {
    if (rule == "A1/foreign")
        return fmt::format(
            "{} belongs to {}, who can change it: give it to {}, or choose another "
            "one",
            path, user_name(about.st_uid), user_name(::geteuid()));
    if (rule == "A1/writable_by_others")
        return fmt::format(
            "others can write {} (mode {:04o}): look at what is in it, then "
            "`chmod go-w` it, or choose another one",
            path, about.st_mode & 07777U);
    if (rule == "A1/symlink")
        return fmt::format(
            "{} is a symbolic link, which is not followed: put the thing itself "
            "there, or remove it",
            path);
    if (rule == "A1/no_file") return path + " is no plain file";
    return path + " is no directory";
}

Error not_trusted(const std::string& what, const std::string& path, std::string_view rule,
                  const struct stat& about) {
    const auto code = rule == "A1/no_directory" ? Errc::unavailable : Errc::forbidden;
    return error(code, fmt::format("this {} is not used: {}", what, reason(rule, path, about)));
}

Error cannot_read(const std::string& path, int why) {
    return error(Errc::unavailable, fmt::format("cannot read {}: {}", path, std::strerror(why)));
}

// One step after the other from the root, links resolved by hand.
class Walk {
public:
    explicit Walk(std::string what) : what_(std::move(what)) {}

    // Empty: the whole path is there. Otherwise the part that is missing.
    Result<std::string> go(const std::string& path) {
        std::error_code failed;
        push(std::filesystem::absolute(path, failed).string());
        if (auto begun = begin(); !begun) return begun.error();
        while (!names_.empty()) {
            auto done = step();
            if (!done) return done.error();
            if (!*done) break;
        }
        std::string missing;
        for (const auto& name : names_) missing += "/" + name;
        return missing;
    }

    const std::string& path() const { return path_; }
    int directory() const { return here_.get(); }

private:
    void push(const std::string& path) {
        std::deque<std::string> names;
        for (const auto& part : std::filesystem::path(path))
            if (!part.empty() && part != "/" && part != ".") names.push_back(part.string());
        names_.insert(names_.begin(), names.begin(), names.end());
    }

    Result<void> begin() {
        path_.clear();
        here_.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!here_) return cannot_read("/", errno);
        return judge(here_, "/");
    }

    Result<void> judge(const Fd& one, const std::string& path) {
        struct stat about {};
        if (::fstat(one.get(), &about) != 0) return cannot_read(path, errno);
        const auto decision = decide_path_trust(facts_of(about, PathRole::ancestor));
        if (decision.verdict == PathVerdict::refuse)
            return not_trusted(what_, path, decision.rule, about);
        is_link_ = S_ISLNK(about.st_mode);
        return {};
    }

    // False: there is nothing of that name.
    Result<bool> step() {
        const auto name = names_.front();
        const auto path = path_ + "/" + name;
        Fd next(::openat(here_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!next && errno == ENOENT) return false;
        if (!next) return cannot_read(path, errno);
        names_.pop_front();
        if (name == "..") {
            here_ = std::move(next);
            path_ = path_.substr(0, path_.find_last_of('/'));
            return true;
        }
        if (auto good = judge(next, path); !good) return good.error();
        if (is_link_) return follow(next, path);
        here_ = std::move(next);
        path_ = path;
        return true;
    }

    Result<bool> follow(const Fd& link, const std::string& path) {
        std::array<char, PATH_MAX> target{};
        const auto size = ::readlinkat(link.get(), "", target.data(), target.size() - 1);
        if (size < 0) return cannot_read(path, errno);
        if (++links_ > links_max) return cannot_read(path, ELOOP);
        const std::string text(target.data(), static_cast<std::size_t>(size));
        push(text);
        if (!text.starts_with('/')) return true;
        if (auto begun = begin(); !begun) return begun.error();
        return true;
    }

    std::string what_;
    std::deque<std::string> names_;  // still to go
    std::string path_;               // so far, without links
    Fd here_;
    bool is_link_ = false;
    int links_ = 0;
};

struct CloseListing {
    void operator()(DIR* listing) const { ::closedir(listing); }
};

class Inside {
public:
    Inside(std::string path, std::string what) : what_(std::move(what)) {
        found_.path = std::move(path);
    }

    Result<TrustedDirectory> look() {
        folder_.reset(::open(found_.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!folder_) return cannot_read(found_.path, errno);
        if (auto good = judge(".", PathRole::directory); !good) return good.error();
        const std::unique_ptr<DIR, CloseListing> listing(::opendir(found_.path.c_str()));
        if (!listing) return cannot_read(found_.path, errno);
        while (const auto* entry = ::readdir(listing.get())) {
            const std::string name(entry->d_name);
            if (name == "." || name == "..") continue;
            if (auto good = judge(name, PathRole::entry); !good) return good.error();
        }
        return std::move(found_);
    }

private:
    Result<void> judge(const std::string& name, PathRole role) {
        struct stat about {};
        if (::fstatat(folder_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) return {};  // just removed
            return cannot_read(found_.path + "/" + name, errno);
        }
        const auto path = role == PathRole::directory ? found_.path : found_.path + "/" + name;
        const auto decision = decide_path_trust(facts_of(about, role));
        if (decision.verdict == PathVerdict::refuse)
            return not_trusted(what_, path, decision.rule, about);
        if (decision.verdict == PathVerdict::tighten) return tighten(name, path, about);
        return {};
    }

    Result<void> tighten(const std::string& name, const std::string& path,
                         const struct stat& about) {
        const auto mode = about.st_mode & 0700U;
        if (::fchmodat(folder_.get(), name.c_str(), mode, 0) != 0)
            return error(Errc::unavailable, fmt::format("cannot change the mode of {}: {}", path,
                                                        std::strerror(errno)));
        found_.notes.push_back(
            fmt::format("others could read {}: its mode was {:04o}, and is {:04o} "
                        "now",
                        path, about.st_mode & 07777U, mode));
        return {};
    }

    std::string what_;
    TrustedDirectory found_;
    Fd folder_;
};

}  // namespace

Result<std::string> trust_way_to(const std::string& path, const std::string& what) {
    Walk walk(what);
    auto missing = walk.go(path);
    if (!missing) return missing.error();
    return walk.path() + *missing;
}

Result<TrustedDirectory> trust_directory(const std::string& path, const std::string& what) {
    auto whole = trust_way_to(path, what);
    if (!whole) return whole.error();
    return Inside(std::move(*whole), what).look();
}

Result<std::string> read_trusted_file(const std::string& path, Secrecy secrecy) {
    const std::string what = secrecy == Secrecy::secret ? "secret" : "configuration";
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) {
        const auto link = decide_path_trust(facts_of(about, PathRole::ancestor));
        if (link.verdict == PathVerdict::refuse) return not_trusted(what, path, link.rule, about);
    }
    // A pipe would keep us waiting for whoever has made it.
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return error(Errc::not_found, path + " does not exist");
    if (!file) return error(Errc::invalid, cannot_read(path, errno).what);
    if (::fstat(file.get(), &about) != 0) return cannot_read(path, errno);
    const auto decision = decide_path_trust(facts_of(about, PathRole::configuration));
    if (decision.verdict == PathVerdict::refuse)
        return not_trusted(what, path, decision.rule, about);
    if (secrecy == Secrecy::secret && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return error(Errc::forbidden,
                     fmt::format("others can read {} (mode {:04o}), so that it is no secret: "
                                 "`chmod 600` it, and have a new token made",
                                 path, about.st_mode & 07777U));
    auto text = read_open_file(file.get(), settings_max);
    if (!text) return error(Errc::invalid, path + " cannot be read, or is larger than 1 MiB");
    return std::move(*text);
}

}  // namespace perdure
