// FailingDisk: for tests, a disk that can be full, fail to sync, or take its time for it. SQLite's
// own file layer with a thin layer over it, which is the default one while this object lives.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "base/assert.h"

namespace perdure::store::sqlite {

class FailingDisk {
public:
    FailingDisk() {
        PERDURE_ASSERT(disk_ == nullptr);
        disk_ = this;
        real_ = sqlite3_vfs_find(nullptr);
        vfs_ = *real_;
        vfs_.zName = "failing";
        vfs_.pAppData = this;
        vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
        vfs_.xOpen = open;
        sqlite3_vfs_register(&vfs_, 1);
    }
    ~FailingDisk() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(real_, 1);
        disk_ = nullptr;
    }
    FailingDisk(const FailingDisk&) = delete;
    FailingDisk& operator=(const FailingDisk&) = delete;

    std::atomic<bool> is_full = false;
    std::atomic<bool> sync_fails = false;
    std::atomic<bool> sync_waits = false;  // until it is false again
    std::atomic<int> syncs = 0;
    // Around each sync, on the thread that makes it.
    std::function<void()> before_sync = [] {};
    std::function<void()> after_sync = [] {};

private:
    struct File {
        sqlite3_file base;
        sqlite3_io_methods methods;
        sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };
    static File* of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

    static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
        auto* mine = of(file);
        const int code = disk_->real_->xOpen(disk_->real_, name, mine->real(), flags, out);
        file->pMethods = nullptr;
        if (code != SQLITE_OK) return code;
        mine->methods = *mine->real()->pMethods;
        forward(mine->methods);
        mine->methods.xWrite = write;
        mine->methods.xSync = sync;
        file->pMethods = &mine->methods;
        return SQLITE_OK;
    }

    static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
        if (disk_->is_full) return SQLITE_FULL;
        auto* real = of(file)->real();
        return real->pMethods->xWrite(real, data, size, offset);
    }
    static int sync(sqlite3_file* file, int flags) {
        ++disk_->syncs;
        disk_->before_sync();
        disk_->sync_waits.wait(true);
        if (disk_->sync_fails) return SQLITE_IOERR_FSYNC;
        auto* real = of(file)->real();
        const int code = real->pMethods->xSync(real, flags);
        disk_->after_sync();
        return code;
    }

    // Everything else goes to the real file.
    template <auto Method, class... Arguments>
    static int pass(sqlite3_file* file, Arguments... arguments) {
        auto* real = of(file)->real();
        return (real->pMethods->*Method)(real, arguments...);
    }
    static void forward(sqlite3_io_methods& m) {
        using Methods = sqlite3_io_methods;
        m.iVersion = 2;
        m.xClose = pass<&Methods::xClose>;
        m.xRead = pass<&Methods::xRead, void*, int, sqlite3_int64>;
        m.xTruncate = pass<&Methods::xTruncate, sqlite3_int64>;
        m.xFileSize = pass<&Methods::xFileSize, sqlite3_int64*>;
        m.xLock = pass<&Methods::xLock, int>;
        m.xUnlock = pass<&Methods::xUnlock, int>;
        m.xCheckReservedLock = pass<&Methods::xCheckReservedLock, int*>;
        m.xFileControl = pass<&Methods::xFileControl, int, void*>;
        m.xSectorSize = pass<&Methods::xSectorSize>;
        m.xDeviceCharacteristics = pass<&Methods::xDeviceCharacteristics>;
        m.xShmMap = pass<&Methods::xShmMap, int, int, int, void volatile**>;
        m.xShmLock = pass<&Methods::xShmLock, int, int, int>;
        m.xShmBarrier = [](sqlite3_file* file) {
            auto* real = of(file)->real();
            real->pMethods->xShmBarrier(real);
        };
        m.xShmUnmap = pass<&Methods::xShmUnmap, int>;
    }

    static inline FailingDisk* disk_ = nullptr;
    sqlite3_vfs* real_ = nullptr;
    sqlite3_vfs vfs_{};
};

}  // namespace perdure::store::sqlite
