/* Counts what a process does to one database: its calls of fsync and fdatasync on the database's
   files and on their folder, the bytes that it writes to these files, the commits in its write-ahead
   log, and the locks that transactions which write begin with.

   Preloaded (LD_PRELOAD) into a program that is not being timed. $SQLITMUS_COUNTS names a file of
   64-bit counters (see `struct counts`); $SQLITMUS_COUNTED names the database, as an absolute
   path without links: files whose path begins with it are its journal, its log and its index.
   The counters are in a mapping of that file, so they are right however the program ends. Without
   the two variables, or where the file cannot be mapped, calls pass through uncounted. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

struct counts {
    _Atomic unsigned long long fsync, fdatasync, bytes, logged, begun;
};

static struct counts *counts;
static char database[PATH_MAX];
static size_t length, folder; /* of the database's path, and of its folder's */

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("SQLITMUS_COUNTS"), *path = getenv("SQLITMUS_COUNTED");
    if (!file || !path || path[0] != '/' || strlen(path) >= sizeof database)
        return;
    int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    length = strlen(strcpy(database, path));
    folder = (size_t)(strrchr(database, '/') - database);
    counts = map;
}

enum of { FILES, FILES_AND_FOLDER, LOG };

/* Whether `fd` is a file of the database, or its folder, or its log alone. Asked anew at each
   call: a number that is remembered would have to follow close and dup. Leaves errno alone. */
static int counted(int fd, enum of what) {
    char link[32], path[PATH_MAX];
    int before = errno;
    if (!counts)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = before;
    if (size < 0)
        return 0;
    if (what == FILES_AND_FOLDER && (size_t)size == folder)
        return !memcmp(path, database, folder);
    if ((size_t)size < length || memcmp(path, database, length))
        return 0;
    path[size] = 0;
    return what != LOG || !strcmp(path + length, "-wal");
}

/* The C library's own function, looked up at the first call: that may come before `begin`. */
#define NEXT(name) \
    static __typeof__(name) *_Atomic next; \
    if (!next) \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define SYNC(name) \
    int name(int fd) { \
        NEXT(name); \
        int answer = next(fd); \
        if (!answer && counted(fd, FILES_AND_FOLDER)) \
            atomic_fetch_add(&counts->name, 1); \
        return answer; \
    }

/* A frame's header is written by itself; where it ends a transaction, it has the size of the
   database after that (the file format's "WAL frame header"). */
static int commits(int fd, const void *data, size_t size) {
    static const char none[4];
    return size == 24 && memcmp((const char *)data + 4, none, 4) && counted(fd, LOG);
}

#define WRITE(name, parameters, commit, ...) \
    ssize_t name parameters { \
        NEXT(name); \
        ssize_t written = next(__VA_ARGS__); \
        if (written > 0 && counted(fd, FILES)) { \
            atomic_fetch_add(&counts->bytes, (unsigned long long)written); \
            atomic_fetch_add(&counts->logged, commit); \
        } \
        return written; \
    }

/* The lock of whoever writes: in the log's index (the "WAL-index format"), or RESERVED. */
enum { LOG_WRITER = 120, RESERVED = 0x40000001 };

#define LOCK(name) \
    int name(int fd, int command, ...) { \
        NEXT(name); \
        va_list more; \
        va_start(more, command); \
        void *argument = va_arg(more, void *); /* every command has one or none */ \
        va_end(more); \
        int answer = next(fd, command, argument); \
        struct flock *lock = argument; \
        if (!answer && (command == F_SETLK || command == F_SETLKW) && lock->l_type == F_WRLCK \
            && (lock->l_start == LOG_WRITER || lock->l_start == RESERVED) && lock->l_len == 1 \
            && counted(fd, FILES)) \
            atomic_fetch_add(&counts->begun, 1); \
        return answer; \
    }

SYNC(fsync)
SYNC(fdatasync)
WRITE(write, (int fd, const void *data, size_t size), commits(fd, data, size),
      fd, data, size)
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), commits(fd, data, size),
      fd, data, size, at)
WRITE(writev, (int fd, const struct iovec *parts, int n), 0, fd, parts, n)
WRITE(pwritev, (int fd, const struct iovec *parts, int n, off_t at), 0, fd, parts, n, at)
LOCK(fcntl)
#ifdef __GLIBC__ /* elsewhere most of these are other names of the same functions */
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t at), commits(fd, data, size),
      fd, data, size, at)
WRITE(pwritev64, (int fd, const struct iovec *parts, int n, off64_t at), 0, fd, parts, n, at)
WRITE(pwritev2, (int fd, const struct iovec *parts, int n, off_t at, int how), 0, fd, parts, n, at, how)
WRITE(pwritev64v2, (int fd, const struct iovec *parts, int n, off64_t at, int how), 0, fd, parts, n, at, how)
#if __GLIBC_PREREQ(2, 28)
LOCK(fcntl64)
#endif
#endif
