#include "client/parts.h"

#include <utility>

#include "wire/log_frames.h"
#include "wire/worker_json.h"

namespace perdure {
namespace {

constexpr std::size_t frame = 128;  // what surrounds the content

std::size_t size_of(const ReportItem& item) {
    const auto evidence = item.evidence
                              ? item.evidence->result.size() + item.evidence->last_lines.size() +
                                    item.evidence->detail.size()
                              : 0;
    return frame + evidence + item.checkpoint.size();
}

std::size_t size_of(const LogChunk& chunk) { return frame + chunk.bytes.size(); }

template <class Item>
bool fits(const std::vector<Item>& items, std::size_t count_max) {
    std::size_t size = 0;
    for (const auto& item : items) size += size_of(item);
    return !items.empty() && items.size() <= count_max && size <= part_max;
}

// Fills one part after another: `list` is the member that is split.
template <class Request, class Item>
std::vector<Request> split_list(Request request, std::vector<Item> Request::*list,
                                std::size_t count_max) {
    std::vector<Request> parts;
    if (fits(request.*list, count_max)) {
        parts.push_back(std::move(request));
        return parts;
    }
    std::size_t size = part_max;
    for (auto& item : request.*list) {
        const auto more = size_of(item);
        const bool full =
            parts.empty() || size + more > part_max || (parts.back().*list).size() == count_max;
        if (full) {
            parts.push_back({.session = request.session});
            size = 0;
        }
        size += more;
        (parts.back().*list).push_back(std::move(item));
    }
    return parts;
}

}  // namespace

std::vector<ReportRequest> split(ReportRequest request) {
    return split_list(std::move(request), &ReportRequest::items, report_items_max);
}

std::vector<LogRequest> split(LogRequest request) {
    return split_list(std::move(request), &LogRequest::chunks, log_chunks_max);
}

}  // namespace perdure
