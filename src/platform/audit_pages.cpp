#include "platform/audit_pages.h"

#include <algorithm>
#include <array>

#include "platform/audit_series.h"

namespace perdure {
namespace {

constexpr std::size_t piece = std::size_t{64} << 10;

struct Line {
    std::uint64_t number = 0;
    std::string text;
};

// One file, backwards from the line with that number on.
class FileBackwards {
public:
    FileBackwards(int directory, const std::string& name, std::uint64_t before, std::size_t& bytes)
        : file_(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)),
          bytes_(bytes) {
        struct stat about {};
        if (file_ && ::fstat(file_.get(), &about) == 0)
            end_ = static_cast<std::uint64_t>(about.st_size);
        if (before != UINT64_MAX) end_ = place_of(before);
    }

    // Empty: there are no more.
    std::optional<Line> next(std::uint64_t before) {
        while (have_ || load()) {
            // What has no line feed yet is being written.
            const auto end = text_.rfind('\n');
            if (end == text_.npos) {
                have_ = false;
                continue;
            }
            const auto begin = end == 0 ? text_.npos : text_.rfind('\n', end - 1);
            if (begin == text_.npos && end_ > 0) {  // the line begins in the piece before
                have_ = false;
                continue;
            }
            const auto from = begin == text_.npos ? 0 : begin + 1;
            Line line{.text = text_.substr(from, end - from)};
            text_.resize(from);
            const auto number = audit_number(line.text);
            if (!number || *number >= before) continue;
            line.number = *number;
            return line;
        }
        return std::nullopt;
    }

private:
    // The piece before what there is.
    bool load() {
        if (end_ == 0) return false;
        const auto size = std::min<std::uint64_t>(end_, piece);
        if (text_.size() > piece) text_.clear();  // no line of ours is that long
        text_.insert(0, read(end_ - size, size));
        end_ -= size;
        have_ = true;
        return true;
    }

    std::string read(std::uint64_t from, std::uint64_t size) {
        std::string text(size, '\0');
        const auto got = ::pread(file_.get(), text.data(), size, static_cast<off_t>(from));
        text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        bytes_ += text.size();
        return text;
    }

    // At or behind the end of the last line with a smaller number.
    std::uint64_t place_of(std::uint64_t before) {
        std::uint64_t low = 0;
        auto high = end_;
        while (high - low > 2 * piece) {
            const auto middle = low + (high - low) / 2;
            const auto text = read(middle, piece / 8);
            const auto begin = text.find('\n');
            const auto end = begin == text.npos ? begin : text.find('\n', begin + 1);
            if (end == text.npos) break;
            const auto number =
                audit_number(std::string_view(text).substr(begin + 1, end - begin - 1));
            if (!number) break;  // damaged: what is left is read
            if (*number >= before)
                high = middle + begin + 1;
            else
                low = middle;
        }
        return high;
    }

    Fd file_;
    std::size_t& bytes_;
    std::uint64_t end_ = 0;  // what is behind it was read
    std::string text_;       // and not looked at yet
    bool have_ = false;      // there may be a whole line in it
};

class SeriesBackwards {
public:
    SeriesBackwards(int directory, std::string_view series, std::uint64_t before,
                    std::size_t& bytes)
        : directory_(directory),
          files_(audit_files(directory, series)),
          before_(before),
          bytes_(bytes) {
        while (!files_.empty() && files_.back().first >= before) files_.pop_back();
        advance();
    }

    const std::optional<Line>& newest() const { return newest_; }
    void advance() {
        newest_.reset();
        while (!newest_) {
            if (!file_) {
                if (files_.empty()) return;
                file_.emplace(directory_, files_.back().text, before_, bytes_);
                files_.pop_back();
            }
            newest_ = file_->next(before_);
            if (newest_)
                before_ = newest_->number;
            else
                file_.reset();
        }
    }

private:
    int directory_;
    std::deque<AuditFileName> files_;
    std::optional<FileBackwards> file_;
    std::uint64_t before_;
    std::size_t& bytes_;
    std::optional<Line> newest_;
};

}  // namespace

AuditPage read_audit_page(int directory, const AuditQuery& query, std::size_t bytes_max) {
    AuditPage page;
    std::size_t bytes = 0;
    const auto before = query.before.value_or(UINT64_MAX);
    std::array<SeriesBackwards, 2> series = {SeriesBackwards(directory, "acts", before, bytes),
                                             SeriesBackwards(directory, "refusals", before, bytes)};
    while (page.lines.size() < query.limit) {
        auto* from = &series[0];
        for (auto& one : series) {
            const bool is_newer =
                one.newest() && (!from->newest() || one.newest()->number > from->newest()->number);
            if (is_newer) from = &one;
        }
        if (!from->newest()) break;
        page.next = from->newest()->number;
        if (query.word.empty() || from->newest()->text.find(query.word) != std::string::npos)
            page.lines.push_back(from->newest()->text);
        from->advance();
        if (bytes > bytes_max) break;
    }
    const bool is_all = !series[0].newest() && !series[1].newest();
    if (is_all) page.next.reset();
    return page;
}

}  // namespace perdure
