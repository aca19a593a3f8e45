# What ./dev needs from the distribution, and how it is installed. Read by ./dev.
# shellcheck shell=sh

packages="g++ cmake ninja-build ccache libboost1.81-dev libfmt-dev libgtest-dev
librapidcheck-dev libcli11-dev libgoogle-perftools-dev libsqlite3-dev libssl-dev
libtomlplusplus-dev libxxhash-dev spin python3 git clang-format prometheus libpq-dev postgresql-15"

missing_packages() {
    for package in $packages; do
        case "$installed" in
        *" $package:installed "*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

setup() {
    command -v dpkg-query >/dev/null ||
        die "this is not Debian; install by hand: $(echo "$packages" | tr '\n' ' ')"
    # shellcheck disable=SC2086  # a list of words
    installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' $packages 2>/dev/null || true)"
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0

    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            die "these packages are missing and installing them needs root or sudo: $missing"
        as_root=sudo
    fi
    echo "dev: installing $missing"
    $as_root apt-get update -q ||
        die "apt-get update failed, see above; missing are: $missing"
    keep_services_down
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing || {
        let_services_up
        die "apt-get could not install, see above; missing are: $missing"
    }
    let_services_up
}

# Of databases only the programs are wanted: tests start their own. Installing the packages would
# make one, start it, and start it again at every boot.
keep_services_down() {
    case "$missing" in *postgresql*) ;; *) return 0 ;; esac
    cluster=/etc/postgresql-common/createcluster.conf
    $as_root mkdir -p "${cluster%/*}"
    [ -e "$cluster" ] ||
        echo "create_main_cluster = false" | $as_root tee "$cluster" >/dev/null
    [ -e "$policy" ] || {
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
        made_policy=yes
    }
}
policy=/usr/sbin/policy-rc.d
made_policy=

let_services_up() {
    [ -z "$made_policy" ] || $as_root rm -f "$policy"
}
