/* Fails the k-th system call that changes something below a directory, or the k-th that reads.

   shim_arm(prefix, k, kind) counts from here on; shim_count() says how many there were, and
   shim_syncs() how many of them waited for the medium.
   Kinds: 1 killed before it · 2 killed in the middle of a write · 3 EIO once · 4 EIO from then on
   5 ENOSPC once · 6 a write takes only half · 7 EIO of a read, once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
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

static int below(const char *path) { return prefix[0] && !strncmp(path, prefix, strlen(prefix)); }
static int known(int fd) { return prefix[0] && fd >= 0 && fd < (int)sizeof ours && ours[fd]; }

/* 0: go on. 1: fail with errno. 2: a write takes half (and 3: then dies). */
static int due(void) {
    if (kind == 7) return 0;
    count++;
    if (!at || (kind == 4 ? count < at : count != at)) return 0;
    switch (kind) {
    case 1: kill(getpid(), SIGKILL); pause(); return 1;
    case 2: return 3;
    case 3: case 4: errno = EIO; return 1;
    case 5: errno = ENOSPC; return 1;
    default: return 2;
    }
}
static int unreadable(int fd) {
    if (kind != 7 || !known(fd) || ++count != at) return 0;
    errno = EIO;
    return 1;
}
/* For calls that cannot be done by half. */
static int refused(void) {
    int how = due();
    if (how == 3) { kill(getpid(), SIGKILL); pause(); }
    return how == 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int opened(const char *path, int flags, mode_t mode, const char *which) {
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, which);
    int changes = flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC);
    if (changes && below(path) && refused()) return -1;
    int fd = real(path, flags, mode);
    if (fd >= 0 && fd < (int)sizeof ours) ours[fd] = below(path);
    return fd;
}
int open(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, int); va_end(rest);
    return opened(path, flags, mode, "open");
}
int open64(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, int); va_end(rest);
    return opened(path, flags, mode, "open64");
}
int close(int fd) {
    if (fd >= 0 && fd < (int)sizeof ours) ours[fd] = 0;
    return REAL(close)(fd);
}
/* How much of a write is done: all, half, or -1 if it fails; then whether the process dies. */
static ssize_t allowed(int fd, size_t size, int *dies) {
    int how = known(fd) ? due() : 0;
    *dies = how == 3;
    return how == 1 ? -1 : how ? (ssize_t)(size / 2) : (ssize_t)size;
}
static ssize_t ended(ssize_t done, int dies) {
    if (dies) { kill(getpid(), SIGKILL); pause(); }
    return done;
}
ssize_t write(int fd, const void *data, size_t size) {
    int dies;
    ssize_t part = allowed(fd, size, &dies);
    return part < 0 ? -1 : ended(REAL(write)(fd, data, part), dies);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    int dies;
    ssize_t part = allowed(fd, size, &dies);
    return part < 0 ? -1 : ended(REAL(pwrite)(fd, data, part, offset), dies);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    int dies;
    ssize_t part = allowed(fd, size, &dies);
    return part < 0 ? -1 : ended(REAL(pwrite64)(fd, data, part, offset), dies);
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
int fsync(int fd) {
    if (known(fd)) { syncs++; if (refused()) return -1; }
    return REAL(fsync)(fd);
}
int fdatasync(int fd) {
    if (known(fd)) { syncs++; if (refused()) return -1; }
    return REAL(fdatasync)(fd);
}
int ftruncate(int fd, off_t size) { return known(fd) && refused() ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) {
    return known(fd) && refused() ? -1 : REAL(ftruncate64)(fd, size);
}
int futimens(int fd, const struct timespec times[2]) {
    return known(fd) && refused() ? -1 : REAL(futimens)(fd, times);
}
int rename(const char *from, const char *to) {
    return below(to) && refused() ? -1 : REAL(rename)(from, to);
}
int unlink(const char *path) { return below(path) && refused() ? -1 : REAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) {
    return below(path) && refused() ? -1 : REAL(mkdir)(path, mode);
}
