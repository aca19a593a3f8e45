// The one form of every refusal: code, sentence, path, page. problem() is the only place where an
// Errc becomes a status.
#pragma once

#include <string>

#include "api/http/message.h"
#include "base/error.h"
#include "wire/json_reader.h"

namespace perdure {

Response problem(const Error& error, const std::string& path = {});
Response problem(const ParseError& parse_error);
// What has no Errc of its own: 405, 408, 413, 414, 415, 431.
Response problem(unsigned status, const Error& error);

unsigned status_of(Errc code);

}  // namespace perdure
