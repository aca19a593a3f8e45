#include "platform/local_token.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "shim/format/attempt_files.h"
#include "shim/format/fd.h"

namespace perdure {
namespace {

constexpr auto secret_file = "token";

}  // namespace

Result<void> keep_local_token(const std::string& directory, Tokens& tokens, bool is_needed,
                              WallTime now) {
    auto revoked = tokens.revoke(local_token_name);
    if (!revoked && !revoked.is(Errc::not_found)) return revoked;
    const auto path = directory + "/" + secret_file;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return error(Errc::unavailable, path + " cannot be removed: " + std::strerror(errno));
    if (!is_needed) return {};
    auto secret = tokens.create({.name = local_token_name,
                                 .role = Role::admin,
                                 .tenant = {},
                                 .created_by = "the server",
                                 .created_at = now,
                                 .expires_at = {}});
    if (!secret) return secret.error();
    const Fd folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const int failed =
        folder ? attempt_files::write_durably(folder.get(), secret_file, *secret + "\n") : errno;
    if (failed) return error(Errc::unavailable, path + ": " + std::strerror(failed));
    return {};
}

}  // namespace perdure
