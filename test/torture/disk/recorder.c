// A library for LD_PRELOAD that stands between a program and the files of its state directory. Two uses:
//
// TORTURE_LOG=FILE records what the program did to the files, so that disk.ts can rebuild the disk of a
// machine that lost its power at any moment. Every record is one append to FILE: other processes that append
// to it (the acknowledgements that clients saw) stand in the true order.
//
// TORTURE_FAULTS=FILE makes calls fail or wait while the program runs; the file is shared memory of bytes,
// see struct faults.
//
// TORTURE_DIR=DIR is the state directory; everything outside it, and the -shm files (an index of the
// write-ahead log that SQLite builds anew after a crash), passes through untouched.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 65536

// Which files a fault is for.
enum { DATABASE = 1, HEAD = 2, OTHER = 4 };

// The bytes of the control file, in this order.
struct faults {
  volatile unsigned char files;       // mask of DATABASE, HEAD, OTHER
  volatile unsigned char write_errno; // write, ftruncate
  volatile unsigned char sync_errno;  // fsync, fdatasync
  volatile unsigned char open_errno;  // opening for writing, rename, unlink, mkdir
  volatile unsigned char sync_delay;  // tenths of a second before fsync, fdatasync
  volatile unsigned char kill_before_sync; // the process kills itself instead of syncing
  volatile unsigned char hits;        // set by this library: something failed, waits or was killed
};

struct open_file {
  uint64_t inode; // 0: not ours
  dev_t device;
  unsigned char kind;
  unsigned char is_dir;
  unsigned char is_append;
};

static struct open_file files[FDS_MAX];
static char dir[PATH_MAX];
static size_t dir_length;
static int log_fd = -1;
static struct faults *faults;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void start(void) {
  const char *given = getenv("TORTURE_DIR");
  if (!given) return;
  snprintf(dir, sizeof dir, "%s", given);
  dir_length = strlen(dir);
  const char *log = getenv("TORTURE_LOG");
  if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const char *control = getenv("TORTURE_FAULTS");
  if (!control) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, control, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void *shared = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared != MAP_FAILED) faults = shared;
  syscall(SYS_close, fd);
}

static void ready(void) { pthread_once(&once, start); }

// One record: length of what follows, kind, three numbers, bytes. One append, so that records do not mix.
static void note(char kind, uint64_t a, uint64_t b, const struct iovec *parts, int count) {
  if (log_fd < 0) return;
  struct { uint32_t length; char kind; char pad[3]; uint64_t a; uint64_t b; uint64_t thread; } head;
  memset(&head, 0, sizeof head);
  struct iovec all[IOV_MAX < 64 ? IOV_MAX : 64];
  if (count > 60) abort();
  uint32_t bytes = 0;
  for (int i = 0; i < count; i += 1) {
    all[i + 1] = parts[i];
    bytes += (uint32_t)parts[i].iov_len;
  }
  head.length = (uint32_t)(sizeof head - sizeof head.length) + bytes;
  head.kind = kind;
  head.a = a;
  head.b = b;
  head.thread = (uint64_t)syscall(SYS_gettid);
  all[0].iov_base = &head;
  all[0].iov_len = sizeof head;
  ssize_t written = syscall(SYS_writev, log_fd, all, count + 1);
  // A log with a hole proves nothing.
  if (written != (ssize_t)(sizeof head + bytes)) abort();
}

static void note_text(char kind, uint64_t a, uint64_t b, const char *text) {
  struct iovec part = {(void *)text, strlen(text)};
  note(kind, a, b, &part, 1);
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

// A path in an open directory, as the work tree is written: /proc/self/fd/7/name, or a name beside a descriptor. The
// result stays valid for four more calls of the thread.
static const char *absolute(int at, const char *path) {
  static __thread char buffers[4][PATH_MAX];
  static __thread int next;
  const char prefix[] = "/proc/self/fd/";
  const char *rest = path;
  if (strncmp(path, prefix, sizeof prefix - 1) == 0) {
    char *end;
    at = (int)strtol(path + sizeof prefix - 1, &end, 10);
    rest = end;
  } else if (path[0] == '/' || at == AT_FDCWD) return path;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  char *buffer = buffers[next++ % 4];
  ssize_t length = readlink(link, buffer, PATH_MAX - 1);
  if (length < 0) return path;
  snprintf(buffer + length, PATH_MAX - (size_t)length, "%s%s", *rest == '\0' || *rest == '/' ? "" : "/", rest);
  return buffer;
}

// The part below the state directory ("" for itself), or NULL for a path that is not ours.
static const char *ours(int at, const char *path) {
  ready();
  if (!dir_length || !path) return NULL;
  path = absolute(at, path);
  if (strncmp(path, dir, dir_length) != 0) return NULL;
  const char *rest = path + dir_length;
  if (*rest != '\0' && *rest != '/') return NULL;
  while (*rest == '/') rest += 1;
  return ends_with(rest, "-shm") ? NULL : rest;
}

static unsigned char kind_of(const char *rest) {
  if (strncmp(rest, "ledger.db", 9) == 0) return DATABASE;
  return strncmp(rest, "ledger.head", 11) == 0 ? HEAD : OTHER;
}

// libuv closes files with a bare system call that cannot be seen here, so the number may belong to another file by now.
static struct open_file *file_of(int fd) {
  if (fd < 0 || fd >= FDS_MAX || files[fd].inode == 0) return NULL;
  struct stat stat;
  if (fstat(fd, &stat) != 0 || stat.st_ino != files[fd].inode || stat.st_dev != files[fd].device) return NULL;
  return &files[fd];
}

static int fails(unsigned char kind, volatile unsigned char *code) {
  if (!faults || !(faults->files & kind) || *code == 0) return 0;
  faults->hits = 1;
  errno = *code;
  return 1;
}

static int refuse_name(const char *rest) {
  return rest && fails(kind_of(rest), faults ? &faults->open_errno : NULL);
}

static int opened(int fd, const char *rest, int flags, int was_there) {
  if (fd < 0 || fd >= FDS_MAX) return fd;
  struct stat stat;
  if (fstat(fd, &stat) != 0) return fd;
  files[fd] = (struct open_file){stat.st_ino, stat.st_dev, kind_of(rest), S_ISDIR(stat.st_mode), (flags & O_APPEND) != 0};
  if (files[fd].is_dir) note_text('O', stat.st_ino, 0, rest);
  else if (!was_there) note_text('C', stat.st_ino, 0, rest);
  else if (flags & O_TRUNC) note('T', stat.st_ino, 0, NULL, 0);
  return fd;
}

#define OPEN_BODY(AT, CALL) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  } \
  const char *rest = ours(AT, path); \
  if (!rest) return CALL; \
  struct stat found; \
  int was_there = fstatat(AT, path, &found, AT_SYMLINK_NOFOLLOW) == 0; \
  if ((flags & O_ACCMODE) != O_RDONLY && refuse_name(rest)) return -1; \
  return opened(CALL, rest, flags, was_there)

int open(const char *path, int flags, ...) {
  REAL(open);
  OPEN_BODY(AT_FDCWD, real(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
  REAL(open64);
  OPEN_BODY(AT_FDCWD, real(path, flags, mode));
}
int openat(int at, const char *path, int flags, ...) {
  REAL(openat);
  OPEN_BODY(at, real(at, path, flags, mode));
}
int openat64(int at, const char *path, int flags, ...) {
  REAL(openat64);
  OPEN_BODY(at, real(at, path, flags, mode));
}
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int fd) {
  REAL(close);
  if (fd >= 0 && fd < FDS_MAX) files[fd].inode = 0;
  return real(fd);
}

static uint64_t position(int fd, const struct open_file *file) {
  struct stat stat;
  if (file->is_append && fstat(fd, &stat) == 0) return (uint64_t)stat.st_size;
  return (uint64_t)lseek(fd, 0, SEEK_CUR);
}

static ssize_t wrote(const struct open_file *file, uint64_t offset, const void *bytes, ssize_t count) {
  struct iovec part = {(void *)bytes, (size_t)(count > 0 ? count : 0)};
  if (count > 0) note('W', file->inode, offset, &part, 1);
  return count;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(write);
  struct open_file *file = file_of(fd);
  if (!file) return real(fd, bytes, count);
  if (fails(file->kind, faults ? &faults->write_errno : NULL)) return -1;
  uint64_t offset = position(fd, file);
  return wrote(file, offset, bytes, real(fd, bytes, count));
}

#define PWRITE_BODY \
  struct open_file *file = file_of(fd); \
  if (!file) return real(fd, bytes, count, offset); \
  if (fails(file->kind, faults ? &faults->write_errno : NULL)) return -1; \
  return wrote(file, (uint64_t)offset, bytes, real(fd, bytes, count, offset))

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  REAL(pwrite);
  PWRITE_BODY;
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  REAL(pwrite64);
  PWRITE_BODY;
}

// Only what was really written counts: the last parts may be cut.
static ssize_t wrote_parts(const struct open_file *file, uint64_t offset, const struct iovec *parts, ssize_t count) {
  ssize_t left = count;
  for (int i = 0; left > 0; i += 1) {
    ssize_t bytes = (ssize_t)parts[i].iov_len < left ? (ssize_t)parts[i].iov_len : left;
    wrote(file, offset, parts[i].iov_base, bytes);
    offset += (uint64_t)bytes;
    left -= bytes;
  }
  return count;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  struct open_file *file = file_of(fd);
  if (!file) return real(fd, parts, count);
  if (fails(file->kind, faults ? &faults->write_errno : NULL)) return -1;
  uint64_t offset = position(fd, file);
  return wrote_parts(file, offset, parts, real(fd, parts, count));
}

#define PWRITEV_BODY \
  struct open_file *file = file_of(fd); \
  if (!file) return real(fd, parts, count, offset); \
  if (fails(file->kind, faults ? &faults->write_errno : NULL)) return -1; \
  return wrote_parts(file, (uint64_t)offset, parts, real(fd, parts, count, offset))

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  REAL(pwritev);
  PWRITEV_BODY;
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  REAL(pwritev64);
  PWRITEV_BODY;
}

#define FTRUNCATE_BODY \
  struct open_file *file = file_of(fd); \
  if (!file) return real(fd, size); \
  if (fails(file->kind, faults ? &faults->write_errno : NULL)) return -1; \
  int result = real(fd, size); \
  if (result == 0) note('T', file->inode, (uint64_t)size, NULL, 0); \
  return result

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  FTRUNCATE_BODY;
}
int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  FTRUNCATE_BODY;
}

static int sync_file(int fd, int (*real)(int)) {
  struct open_file *file = file_of(fd);
  if (!file) return real(fd);
  uint64_t inode = file->inode;
  // What is written by another thread from here on is not covered by this call.
  note('B', inode, 0, NULL, 0);
  if (faults && (faults->files & file->kind)) {
    if (faults->kill_before_sync) {
      faults->hits = 1;
      kill(getpid(), SIGKILL);
    }
    if (faults->sync_delay) {
      faults->hits = 1;
      long tenths = faults->sync_delay;
      struct timespec wait = {tenths / 10, (tenths % 10) * 100000000L};
      nanosleep(&wait, NULL);
    }
    if (fails(file->kind, &faults->sync_errno)) {
      note('F', inode, 0, NULL, 0);
      return -1;
    }
  }
  int result = real(fd);
  note(result == 0 ? 'S' : 'F', inode, file->is_dir, NULL, 0);
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  return sync_file(fd, real);
}
int fdatasync(int fd) {
  REAL(fdatasync);
  return sync_file(fd, real);
}

static int renamed(const char *from, const char *to, int result) {
  struct iovec parts[3] = {{(void *)from, strlen(from)}, {"\0", 1}, {(void *)to, strlen(to)}};
  if (result == 0) note('R', 0, 0, parts, 3);
  return result;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  const char *source = ours(AT_FDCWD, from), *target = ours(AT_FDCWD, to);
  if (!source || !target) return real(from, to);
  return refuse_name(target) ? -1 : renamed(source, target, real(from, to));
}
int renameat(int at, const char *from, int into, const char *to) {
  REAL(renameat);
  const char *source = ours(at, from), *target = ours(into, to);
  if (!source || !target) return real(at, from, into, to);
  return refuse_name(target) ? -1 : renamed(source, target, real(at, from, into, to));
}

static int linked(char kind, const char *from, const char *to, int result) {
  struct iovec parts[3] = {{(void *)from, strlen(from)}, {"\0", 1}, {(void *)to, strlen(to)}};
  if (result == 0) note(kind, 0, 0, parts, 3);
  return result;
}

int link(const char *from, const char *to) {
  REAL(link);
  const char *source = ours(AT_FDCWD, from), *target = ours(AT_FDCWD, to);
  if (!source || !target) return real(from, to);
  return refuse_name(target) ? -1 : linked('L', source, target, real(from, to));
}
int symlink(const char *text, const char *path) {
  REAL(symlink);
  const char *rest = ours(AT_FDCWD, path);
  if (!rest) return real(text, path);
  return refuse_name(rest) ? -1 : linked('Y', text, rest, real(text, path));
}

static int removed(const char *rest, int result) {
  if (result == 0) note_text('U', 0, 0, rest);
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  const char *rest = ours(AT_FDCWD, path);
  if (!rest) return real(path);
  return refuse_name(rest) ? -1 : removed(rest, real(path));
}
// What newer versions of Node delete files with.
int remove(const char *path) {
  REAL(remove);
  const char *rest = ours(AT_FDCWD, path);
  if (!rest) return real(path);
  return refuse_name(rest) ? -1 : removed(rest, real(path));
}
int unlinkat(int at, const char *path, int flags) {
  REAL(unlinkat);
  const char *rest = ours(at, path);
  if (!rest) return real(at, path, flags);
  return refuse_name(rest) ? -1 : removed(rest, real(at, path, flags));
}

int rmdir(const char *path) {
  REAL(rmdir);
  const char *rest = ours(AT_FDCWD, path);
  if (!rest) return real(path);
  return refuse_name(rest) ? -1 : removed(rest, real(path));
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  const char *rest = ours(AT_FDCWD, path);
  if (!rest) return real(path, mode);
  if (refuse_name(rest)) return -1;
  int result = real(path, mode);
  if (result == 0 && *rest != '\0') note_text('M', 0, 0, rest);
  return result;
}
