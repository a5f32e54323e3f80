/* Fails the k-th system call that changes something below a directory, or the k-th that reads.

   shim_arm(prefix, k, kind) counts from here on; shim_count() says how many there were, and
   shim_syncs() how many of them waited for the medium.
   Kinds: 1 killed before it · 2 killed in the middle of a write · 3 EIO once · 4 EIO from then on
   5 ENOSPC once · 6 a write takes only half · 7 EIO of a read, once · 8 killed after it
   9 ENOSPC from then on · 10 done, but reported as EIO · 11 EIO of reads from then on.

   shim_set_clock(seconds) sets the clock of this process alone, from which time goes on.

   With SHIM_NO_SHARED_MEMORY in the environment no file can be mapped into shared memory, as on
   some network drives.

   shim_record(path) writes all that changes something to a file, with the bytes that were written,
   so that `fault_crashes.py` can make any state that a power cut may leave. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static char prefix[4096];
static int at, kind, count, syncs;
static char ours[4096];

void shim_arm(const char *path, int k, int what) {
    strncpy(prefix, path, sizeof prefix - 1);
    at = k; kind = what; count = 0; syncs = 0;
}
int shim_count(void) { return count; }
int shim_syncs(void) { return syncs; }

static int below(const char *path);
static int record_fd = -1;
static ssize_t (*real_write)(int, const void *, size_t);
void shim_record(const char *path) {
    real_write = dlsym(RTLD_NEXT, "write");
    int (*real_open)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    record_fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}
/* One line, then `size` bytes: what is done, to which inode, where. */
void shim_note(const char *line, const void *data, size_t size) {
    char head[9000];
    if (record_fd < 0) return;
    int length = snprintf(head, sizeof head, "%zu %s\n", size, line);
    if (real_write(record_fd, head, length) != length) _exit(99);
    if (size && real_write(record_fd, data, size) != (ssize_t)size) _exit(99);
}
static unsigned long inode(int fd) {
    struct stat status;
    return fstat(fd, &status) ? 0 : (unsigned long)status.st_ino;
}
#define NOTE(is_ours, data, size, ...) do { if (record_fd >= 0 && (is_ours)) { \
    char line[8600]; snprintf(line, sizeof line, __VA_ARGS__); shim_note(line, data, size); } } while (0)

static int below(const char *path) { return prefix[0] && !strncmp(path, prefix, strlen(prefix)); }
static int known(int fd) { return prefix[0] && fd >= 0 && fd < (int)sizeof ours && ours[fd]; }
static void die(void) { kill(getpid(), SIGKILL); pause(); }

/* What happens to a call: PASS to do it, FAIL with errno, or a part of it. */
enum { PASS, FAIL, HALF, HALF_THEN_DIE, DO_THEN_DIE, DO_THEN_FAIL };
static int due(int is_ours) {
    if (!is_ours || kind == 7 || kind == 11) return PASS;
    count++;
    int sticky = kind == 4 || kind == 9;
    if (!at || (sticky ? count < at : count != at)) return PASS;
    switch (kind) {
    case 1: die(); return FAIL;
    case 2: return HALF_THEN_DIE;
    case 3: case 4: errno = EIO; return FAIL;
    case 5: case 9: errno = ENOSPC; return FAIL;
    case 8: return DO_THEN_DIE;
    case 10: return DO_THEN_FAIL;
    default: return HALF;
    }
}
static int unreadable(int fd) {
    if ((kind != 7 && kind != 11) || !known(fd)) return 0;
    count++;
    if (!at || (kind == 11 ? count < at : count != at)) return 0;
    errno = EIO;
    return 1;
}
static long ended(long result, int how) {
    if (how == DO_THEN_DIE || how == HALF_THEN_DIE) die();
    if (how == DO_THEN_FAIL && result >= 0) { errno = EIO; return -1; }
    return result;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* A call that cannot be done by half: then it is not done before the process dies. */
#define WHOLE(is_ours, call) \
    int how = due(is_ours); \
    if (how == HALF_THEN_DIE) die(); \
    return how == FAIL ? -1 : ended(call, how)
/* A write of `size` bytes, of which `part` are written. */
#define WRITE(fd, call) \
    int how = due(known(fd)); \
    size_t part = how == HALF || how == HALF_THEN_DIE ? size / 2 : size; \
    return how == FAIL ? -1 : ended(call, how)

static off_t offset_of(int fd) {
    struct stat status;
    int appends = fcntl(fd, F_GETFL) & O_APPEND;
    return appends && !fstat(fd, &status) ? status.st_size : lseek(fd, 0, SEEK_CUR);
}
static int opened(int is_ours, int how, int fd, const char *path, int flags) {
    if (how == DO_THEN_DIE) die();
    if (fd >= 0 && how == DO_THEN_FAIL) { REAL(close)(fd); errno = EIO; return -1; }
    if (fd >= 0 && fd < (int)sizeof ours) ours[fd] = is_ours;
    if (fd >= 0) NOTE(is_ours, 0, 0, "open %lu %s", inode(fd), path);
    if (fd >= 0 && flags & O_TRUNC) NOTE(is_ours, 0, 0, "truncate %lu 0", inode(fd));
    return fd;
}
static int refused(int is_ours, int flags, int *how) {
    int changes = flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC);
    *how = due(is_ours && changes);
    if (*how == HALF_THEN_DIE) die();
    return *how == FAIL;
}
#define MODE va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, int); va_end(rest)
#define OPEN(is_ours, call) \
    MODE; int how; \
    return refused(is_ours, flags, &how) ? -1 : opened(is_ours, how, call, path, flags)
int open(const char *path, int flags, ...) { OPEN(below(path), REAL(open)(path, flags, mode)); }
int open64(const char *path, int flags, ...) { OPEN(below(path), REAL(open64)(path, flags, mode)); }
int openat(int at_fd, const char *path, int flags, ...) {
    OPEN(below(path) || (path[0] != '/' && known(at_fd)), REAL(openat)(at_fd, path, flags, mode));
}
int openat64(int at_fd, const char *path, int flags, ...) {
    OPEN(below(path) || (path[0] != '/' && known(at_fd)), REAL(openat64)(at_fd, path, flags, mode));
}
int close(int fd) {
    if (fd >= 0 && fd < (int)sizeof ours) ours[fd] = 0;
    return REAL(close)(fd);
}
ssize_t write(int fd, const void *data, size_t size) {
    NOTE(known(fd), data, size, "write %lu %ld", inode(fd), (long)offset_of(fd));
    WRITE(fd, REAL(write)(fd, data, part));
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    NOTE(known(fd), data, size, "write %lu %ld", inode(fd), (long)offset);
    WRITE(fd, REAL(pwrite)(fd, data, part, offset));
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    NOTE(known(fd), data, size, "write %lu %ld", inode(fd), (long)offset);
    WRITE(fd, REAL(pwrite64)(fd, data, part, offset));
}
ssize_t read(int fd, void *data, size_t size) {
    return unreadable(fd) ? -1 : REAL(read)(fd, data, size);
}
ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return unreadable(fd) ? -1 : REAL(pread)(fd, data, size, offset);
}
ssize_t pread64(int fd, void *data, size_t size, off64_t offset) {
    return unreadable(fd) ? -1 : REAL(pread64)(fd, data, size, offset);
}
#define SYNC(fd) syncs += known(fd); NOTE(known(fd), 0, 0, "sync %lu", inode(fd))
int fsync(int fd) { SYNC(fd); WHOLE(known(fd), REAL(fsync)(fd)); }
int fdatasync(int fd) { SYNC(fd); WHOLE(known(fd), REAL(fdatasync)(fd)); }
#define RESIZE(fd, size) NOTE(known(fd), 0, 0, "truncate %lu %ld", inode(fd), (long)size)
int ftruncate(int fd, off_t size) { RESIZE(fd, size); WHOLE(known(fd), REAL(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) {
    RESIZE(fd, size);
    WHOLE(known(fd), REAL(ftruncate64)(fd, size));
}
int fchmod(int fd, mode_t mode) { WHOLE(known(fd), REAL(fchmod)(fd, mode)); }
int futimens(int fd, const struct timespec times[2]) {
    WHOLE(known(fd), REAL(futimens)(fd, times));
}
int rename(const char *from, const char *to) {
    NOTE(below(to), 0, 0, "rename %s\t%s", from, to);
    WHOLE(below(to), REAL(rename)(from, to));
}
int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags) {
    WHOLE(below(to), REAL(renameat2)(from_fd, from, to_fd, to, flags));
}
int link(const char *from, const char *to) {
    NOTE(below(to), 0, 0, "link %s\t%s", from, to);
    WHOLE(below(to), REAL(link)(from, to));
}
int unlink(const char *path) {
    NOTE(below(path), 0, 0, "unlink %s", path);
    WHOLE(below(path), REAL(unlink)(path));
}
int unlinkat(int at_fd, const char *path, int flags) {
    WHOLE(below(path) || known(at_fd), REAL(unlinkat)(at_fd, path, flags));
}
int rmdir(const char *path) { WHOLE(below(path), REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) {
    NOTE(below(path), 0, 0, "mkdir %s", path);
    WHOLE(below(path), REAL(mkdir)(path, mode));
}

/* A clock of our own; file times stay those of the machine. */
static long clock_ahead;
static int (*real_clock)(clockid_t, struct timespec *);
int clock_gettime(clockid_t which, struct timespec *now) {
    if (!real_clock) real_clock = REAL(clock_gettime);
    int failed = real_clock(which, now);
    if (!failed && which == CLOCK_REALTIME) now->tv_sec += clock_ahead;
    return failed;
}
time_t time(time_t *seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds) *seconds = now.tv_sec;
    return now.tv_sec;
}
void shim_set_clock(long seconds) { clock_ahead = 0; clock_ahead = seconds - time(0); }

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_SHARED) && fd >= 0 && getenv("SHIM_NO_SHARED_MEMORY")) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return REAL(mmap)(address, size, protection, flags, fd, offset);
}
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset) {
    return mmap(address, size, protection, flags, fd, offset);
}
