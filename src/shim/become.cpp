#include "shim/become.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace perdure {
namespace {

// A library's setuid() speaks to all threads of the process first, through memory that is shared
// with the parent here. The kernel's changes the caller alone.
long set_ids(const Credentials& who) {
    if (::syscall(SYS_setgroups, who.groups.size(), who.groups.data()) != 0) return -1;
    if (::syscall(SYS_setresgid, who.gid, who.gid, who.gid) != 0) return -1;
    return ::syscall(SYS_setresuid, who.uid, who.uid, who.uid);
}

// A worker that is not root keeps its capabilities over a change of uid, and ambient ones go on to
// the next program.
bool drop_capabilities() {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    return ::syscall(SYS_capset, &header, none) == 0;
}

bool has_no_capability() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct has[2] = {};
    if (::syscall(SYS_capget, &header, has) != 0) return false;
    for (const auto& part : has)
        if ((part.effective | part.permitted | part.inheritable) != 0) return false;
    return true;
}

bool is(const Credentials& who) {
    uid_t uid[3] = {};
    gid_t gid[3] = {};
    if (::getresuid(&uid[0], &uid[1], &uid[2]) != 0) return false;
    if (::getresgid(&gid[0], &gid[1], &gid[2]) != 0) return false;
    for (const auto id : uid)
        if (id != who.uid) return false;
    for (const auto id : gid)
        if (id != who.gid) return false;
    const auto groups = ::getgroups(0, nullptr);
    return groups >= 0 && static_cast<std::size_t>(groups) == who.groups.size();
}

}  // namespace

int become(const Credentials& who) {
    if (set_ids(who) != 0) return errno;
    if (!drop_capabilities()) return errno;
    if (!is(who) || !has_no_capability()) return EPERM;
    // What could be taken back was not given up.
    if (who.uid != 0 && ::syscall(SYS_setresuid, 0, 0, 0) == 0) return EPERM;
    return 0;
}

}  // namespace perdure
