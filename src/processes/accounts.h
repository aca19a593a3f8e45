// Accounts of this host, as its databases have them (NSS). The worker asks, because the shim
// cannot. Calls may block.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "core/job/who.h"
#include "core/worker/job_user.h"

namespace perdure {

// A name or a uid. invalid: there is no such account. A uid that no database knows is an account
// without a name, with a group of the same number.
Result<Account> find_account(const std::string& name);
// The one under which this process runs.
Account own_account();

// As whom jobs shall run here; empty: as the worker. invalid: not possible, and what to do.
Result<std::optional<Account>> find_job_user(const std::string& wanted);
// invalid: this worker cannot become whoever submits a job (U2).
Result<void> check_may_become_submitters();
// As whom this job shall run (U3); empty: as the worker. overloaded: not here, and why.
Result<std::optional<Account>> find_submitter(const Who& submitter, bool allows_root);
// invalid: jobs of this account cannot reach the folder, which must exist.
Result<void> check_way(const std::string& folder, const Account& account);

}  // namespace perdure
