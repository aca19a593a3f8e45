#include "wire/log_frames.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "wire/json_writer.h"
#include "wire/worker_parts.h"

namespace perdure {
namespace {

constexpr std::size_t header_max = 256;

struct FrameHead {
    LogChunk& chunk;
    std::size_t& size;
};

constexpr std::array frame_fields = {
    JsonField<FrameHead>{"job",
                         [](const JsonCursor& a, FrameHead& h) { read_job(a, h.chunk.attempt); },
                         Need::required},
    JsonField<FrameHead>{"epoch",
                         [](const JsonCursor& a, FrameHead& h) { read_epoch(a, h.chunk.attempt); },
                         Need::required},
    JsonField<FrameHead>{"offset",
                         [](const JsonCursor& a, FrameHead& h) { a.read(h.chunk.offset); },
                         Need::required},
    JsonField<FrameHead>{
        "size", [](const JsonCursor& a, FrameHead& h) { a.read_between(h.size, 1, log_chunk_max); },
        Need::required},
};

std::optional<ParseError> read_header(std::string_view line, LogChunk& chunk, std::size_t& size) {
    JsonTree root;
    if (auto parse_error = parse_quick(line, root)) return parse_error;
    Reading reading{.ignore_unknown = true};
    const JsonCursor at(root, reading);
    FrameHead head{chunk, size};
    read_fields<FrameHead>(at, frame_fields, head);
    constexpr auto offset_max =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - log_chunk_max;
    if (chunk.offset > offset_max) at.misfit_at("offset", "is beyond what can be kept");
    return reading.parse_error;
}

}  // namespace

std::string log_frames(const std::vector<LogChunk>& chunks) {
    std::string body;
    for (const auto& chunk : chunks) {
        JsonWriter json(body);
        json.begin_object();
        write_attempt_key(json, chunk.attempt);
        json.field("offset", chunk.offset);
        json.field("size", chunk.bytes.size());
        json.end_object();
        body += '\n';
        body += chunk.bytes;
    }
    return body;
}

std::optional<ParseError> read_log_frames(std::string_view body, std::vector<LogChunk>& into) {
    while (!body.empty()) {
        const auto place = fmt::format("$[{}]", into.size());
        if (into.size() == log_chunks_max) return ParseError{"at most 1000 chunks at once", place};
        const auto end = body.substr(0, header_max).find('\n');
        if (end == std::string_view::npos)
            return ParseError{"a chunk must begin with a line", place};
        auto& chunk = into.emplace_back();
        std::size_t size = 0;
        if (auto parse_error = read_header(body.substr(0, end), chunk, size))
            return ParseError{parse_error->what, place + parse_error->path.substr(1)};
        body.remove_prefix(end + 1);
        if (body.size() < size) return ParseError{"a chunk has fewer bytes than it says", place};
        chunk.bytes = body.substr(0, size);
        body.remove_prefix(size);
    }
    return std::nullopt;
}

}  // namespace perdure
