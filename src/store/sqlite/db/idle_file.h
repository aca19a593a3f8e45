// IdleFile: `perdure.db-idle`, beside the database: the note of an idle store, one page of the disk
// each time instead of four and their index (T4). Two pages take turns, so that a write that is cut
// off spoils no note that anybody was told of; each holds its note twice, with a checksum (C9).
//
// To change the form: give it another number, and read the one before as well.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/engine/idle_note.h"
#include "store/sql/statement.h"

namespace perdure::store::sqlite {

inline constexpr const char* idle_file_suffix = "-idle";

class IdleFile final : public sql::Notes {
public:
    // Made if it is not there. One that cannot be is not open: it takes no notes.
    explicit IdleFile(const std::string& path);
    bool is_open() const { return file_ >= 0; }
    ~IdleFile() override;
    IdleFile(const IdleFile&) = delete;
    IdleFile& operator=(const IdleFile&) = delete;

    // Of what the file has, only what goes with this row counts from now on.
    void keep_what_goes_with(const ServiceRow& stored);
    // True: it is durable. False: it was not written. A Failure: nobody knows.
    bool write(const IdleNote& note);

    // By any thread: what is newer than these rows. A row that was written since has it all.
    void add_to(ServiceRow& row) const override;
    void add_to(SessionRow& row) const override;
    std::vector<SessionId> heard() const;

private:
    mutable std::mutex mutex_;
    std::optional<IdleNote> note_;
    std::vector<IdleNote> found_;  // when it was opened
    std::string path_;
    int file_ = -1;
    int next_page_ = 0;
};

}  // namespace perdure::store::sqlite
