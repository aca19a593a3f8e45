// Audit: what must be true of every store at any time, whatever has happened (J1, J2, C3, C4),
// and the whole content of a store as text, to be compared.
#pragma once

#include <string>

#include "ports/catalogue.h"
#include "ports/store.h"

namespace perdure::contract {

// Adds a test failure for each thing that is wrong.
void expect_sound(const AuditView& audit);

std::string describe(const AuditView& audit);
std::string describe(const JobView& job);
std::string describe(const SessionView& session);
std::string describe(const GroupReply& reply);
std::string describe(const OverdueView& overdue);
std::string describe(const JobPage& page);
std::string describe(const Overview& overview);
std::string describe(const Recovery& entry);
std::string describe(const RecoveryPage& page);

}  // namespace perdure::contract
