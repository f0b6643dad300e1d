/* A C library that fails one call: loaded by LD_PRELOAD, it stands before libc's own.
 *
 * Nothing fails, and nothing is counted, until `faults_arm`. From then on the calls of the chosen
 * kind are counted, in all threads, and the n-th fails: for once, or it and all that follow, as on
 * a disk that is full. Then the n-th write is cut in half first, which is how a disk fills up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, OPEN, WRITE, SYNC, RENAME, ALLOCATE };

static int armed = NONE, errors, is_lasting;
static long nth, counted, failed;

void faults_arm(int kind, long n, int error, int lasting) {
    counted = failed = 0;
    nth = n, errors = error, is_lasting = lasting;
    __atomic_store_n(&armed, kind, __ATOMIC_SEQ_CST);
}

void faults_disarm(void) { __atomic_store_n(&armed, NONE, __ATOMIC_SEQ_CST); }
long faults_counted(void) { return counted; }
long faults_failed(void) { return failed; }

/* Whether this call is the one. */
static int fails(int kind) {
    if (__atomic_load_n(&armed, __ATOMIC_RELAXED) != kind) return 0;
    long n = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
    if (n != nth && !(is_lasting && nth && n > nth)) return 0;
    __atomic_add_fetch(&failed, 1, __ATOMIC_SEQ_CST);
    errno = errors;
    return 1;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

/* Opening. O_CREAT and O_TMPFILE have a mode. */
#define MODE(flags, mode)                                                    \
    mode_t mode = 0;                                                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                   \
        va_list more;                                                        \
        va_start(more, flags);                                               \
        mode = va_arg(more, mode_t);                                         \
        va_end(more);                                                        \
    }
#define OPENS(name)                                                          \
    int name(const char *path, int flags, ...) {                             \
        MODE(flags, mode)                                                    \
        return fails(OPEN) ? -1 : REAL(name)(path, flags, mode);             \
    }
#define OPENS_AT(name)                                                       \
    int name(int folder, const char *path, int flags, ...) {                 \
        MODE(flags, mode)                                                    \
        return fails(OPEN) ? -1 : REAL(name)(folder, path, flags, mode);     \
    }
#define OPENS_FILE(name)                                                     \
    FILE *name(const char *path, const char *how) {                          \
        return fails(OPEN) ? NULL : REAL(name)(path, how);                   \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
OPENS_FILE(fopen)
OPENS_FILE(fopen64)
int creat(const char *path, mode_t mode) { return fails(OPEN) ? -1 : REAL(creat)(path, mode); }

/* Writing. While a full disk lasts, messages can be written all the same: else nobody could say
 * what happened, and nothing would be left to check. */
static ssize_t refused(int file, size_t *size, int *is_cut) {
    *is_cut = 0;
    if (is_lasting && (file == 1 || file == 2)) return 0;
    if (!fails(WRITE)) return 0;
    if (!is_lasting || failed != 1 || *size < 2) return -1;
    *size /= 2, *is_cut = 1;
    return 0;
}
#define WRITES(name, extra, given)                                           \
    ssize_t name(int file, const void *bytes, size_t size extra) {           \
        int is_cut;                                                          \
        if (refused(file, &size, &is_cut)) return -1;                        \
        return REAL(name)(file, bytes, size given);                          \
    }
#define COMMA ,
WRITES(write, , )
WRITES(pwrite, COMMA off_t at, COMMA at)
WRITES(pwrite64, COMMA off64_t at, COMMA at)
ssize_t writev(int file, const struct iovec *parts, int number) {
    return fails(WRITE) ? -1 : REAL(writev)(file, parts, number);
}
int posix_fallocate(int file, off_t at, off_t size) {
    return fails(WRITE) ? errors : REAL(posix_fallocate)(file, at, size);
}
int posix_fallocate64(int file, off64_t at, off64_t size) {
    return fails(WRITE) ? errors : REAL(posix_fallocate64)(file, at, size);
}
int ftruncate(int file, off_t size) { return fails(WRITE) ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) {
    return fails(WRITE) ? -1 : REAL(ftruncate64)(file, size);
}

/* Syncing and renaming. */
int fsync(int file) { return fails(SYNC) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(SYNC) ? -1 : REAL(fdatasync)(file); }
int rename(const char *old, const char *new) {
    return fails(RENAME) ? -1 : REAL(rename)(old, new);
}
int renameat(int from, const char *old, int to, const char *new) {
    return fails(RENAME) ? -1 : REAL(renameat)(from, old, to, new);
}

/* Memory. glibc's own names, since dlsym allocates. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void *malloc(size_t size) { return fails(ALLOCATE) ? NULL : __libc_malloc(size); }
void *calloc(size_t number, size_t size) {
    return fails(ALLOCATE) ? NULL : __libc_calloc(number, size);
}
void *realloc(void *old, size_t size) { return fails(ALLOCATE) ? NULL : __libc_realloc(old, size); }
void *memalign(size_t by, size_t size) { return fails(ALLOCATE) ? NULL : __libc_memalign(by, size); }
void *aligned_alloc(size_t by, size_t size) { return memalign(by, size); }
int posix_memalign(void **made, size_t by, size_t size) {
    void *found = memalign(by, size);
    if (found) *made = found;
    return found ? 0 : ENOMEM;
}
void *mmap(void *at, size_t size, int may, int how, int file, off_t from) {
    return fails(ALLOCATE) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, may, how, file, from);
}
void *mmap64(void *at, size_t size, int may, int how, int file, off64_t from) {
    return fails(ALLOCATE) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, size, may, how, file, from);
}
