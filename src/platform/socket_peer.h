// SocketPeers: which account of this host is at the other end of a connection, by the kernel's
// word: SO_PEERCRED of a unix socket, the table of sockets (NETLINK_SOCK_DIAG, which needs no
// right) of a loopback connection. Where that is missing, /proc/net/tcp is read by the same rule
// (A2).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ports/access.h"
#include "shim/format/fd.h"

namespace perdure {

class SocketPeers final : public Peers {
public:
    SocketPeers();

    std::optional<std::uint32_t> account_of(int socket) override;
    std::string name_of(std::uint32_t account) override;

    // Whether the kernel says who opened a loopback connection at all.
    bool can_tell() const;

    // For tests: as if the kernel had no table of sockets to ask for.
    void use_proc_alone() { netlink_.reset(); }

private:
    Fd netlink_;
    std::uint32_t overflow_uid_;
    std::map<std::uint32_t, std::string> names_;  // asked for once: that may take a while
};

}  // namespace perdure
