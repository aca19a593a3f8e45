#include "app/perdure/access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "platform/trusted_path.h"
#include "platform/users.h"

namespace perdure {
namespace {

// What a systemd unit has in LoadCredential=perdure-token:...
std::string token_file_of(const Config& config) {
    if (!config.token_file.empty()) return config.token_file;
    const auto* folder = std::getenv("CREDENTIALS_DIRECTORY");
    const auto path = folder ? std::string(folder) + "/perdure-token" : std::string();
    return folder && ::access(path.c_str(), R_OK) == 0 ? path : "";
}

Error no_account(std::string_view setting, std::string_view name) {
    return error(Errc::invalid,
                 fmt::format("{}: there is no account {} on this host", setting, name));
}

}  // namespace

Result<std::shared_ptr<const Credentials>> read_credentials(const Config& config) {
    auto credentials = std::make_shared<Credentials>();
    for (const auto& name : config.server_users) {
        const auto uid = user_id(name);
        if (!uid) return no_account("server.users", name);
        credentials->server_users.push_back(*uid);
    }
    const auto path = token_file_of(config);
    if (path.empty()) return std::shared_ptr<const Credentials>(std::move(credentials));
    auto text = read_trusted_file(path, Secrecy::secret);
    if (!text) return text.error();
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
    const bool is_one_word = !text->empty() && text->find_first_of(" \t\r\n") == std::string::npos;
    if (!is_one_word) return error(Errc::invalid, path + " must have a token in its only line");
    credentials->token = std::move(*text);
    return std::shared_ptr<const Credentials>(std::move(credentials));
}

Result<AccessOptions> read_access(const Config& config) {
    AccessOptions options{.self = ::geteuid(), .trusts_root = config.trusts_root};
    for (const auto& text : config.access_users) {
        const auto colon = text.find(':');
        const auto name = text.substr(0, colon);
        const auto uid = user_id(name);
        if (!uid) return no_account("access.users", name);
        const auto role =
            colon == std::string::npos ? Role::submitter : role_named(text.substr(colon + 1));
        options.users[*uid] = role.value_or(Role::submitter);
    }
    return options;
}

}  // namespace perdure
