// What every process tells about itself, by the names that Prometheus' own clients use.
#pragma once

#include "base/metrics_text.h"

namespace perdure {

// What the system does not tell is left out.
void append_process_metrics(MetricsText& out);

}  // namespace perdure
