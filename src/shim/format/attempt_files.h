// The files of an attempt's directory: their names, how they become durable, and the text of
// result.json. docs/formats/attempt-directory.md says what each combination means after a crash.
#pragma once

#include <string>
#include <string_view>

#include "core/explain/evidence.h"
#include "core/policy/cause.h"

namespace perdure::attempt_files {

inline constexpr auto order = "order";
inline constexpr auto order_draft = "order.new";
inline constexpr auto started = "started";
inline constexpr auto result = "result.json";
inline constexpr auto result_draft = "result.json.new";
inline constexpr auto output = "output";
inline constexpr auto output_tail = "output.tail";
inline constexpr auto args = "args.json";
inline constexpr auto checkpoint = "checkpoint";
inline constexpr auto inputs = "inputs.json";
inline constexpr auto job_socket = "job";
inline constexpr auto shim_socket = "shim";
inline constexpr auto work = "work";
inline constexpr auto work_result = "result";  // in `work`, written by the job

inline constexpr int result_version = 1;
// A result of this size at most goes through the socket as well; a larger one is read from disk.
inline constexpr std::size_t result_inline_max = 64 * 1024;
inline constexpr std::size_t result_file_max = std::size_t{8} << 20;

// Both answer an errno; zero is success. The second one survives a power loss: the bytes are
// synced under another name, then renamed, then the directory is synced.
// What has that name, or the draft's, is written over: its blocks are used again, which a file
// system does faster than giving them away and finding others.
int write_plainly(int directory, const char* name, std::string_view bytes);
int write_durably(int directory, const char* name, std::string_view bytes);
int sync_file(int directory, const char* name);

std::string result_json(const AttemptEnd& end, const Evidence& evidence);

}  // namespace perdure::attempt_files
