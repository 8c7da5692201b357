#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <lathe/runtime/object_cache.hpp>
#include <lathe/support/text.hpp>
#include <memory>

namespace lathe {
namespace detail {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using CacheFile = std::unique_ptr<std::FILE, CloseFile>;

/// What stands before the object's bytes.
struct ObjectHeader {
  char magic[16] = "lathe object 1\n";
  std::uint64_t key = 0, bytes = 0, checksum = 0;
};

/// FNV-1a; the start tells two hashes of the same bytes apart.
inline std::uint64_t cache_hash(std::string_view bytes, std::uint64_t start) {
  for (char c : bytes) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return start;
}
inline constexpr std::uint64_t kNameStart = 0xCBF29CE484222325ull,
                               kHeaderStart = 0x9E3779B97F4A7C15ull;

inline ObjectHeader object_header(const ObjectId& id, const Vec<char>& object) {
  ObjectHeader header;
  header.key = id.check;
  header.bytes = object.size();
  header.checksum = cache_hash({object.data(), object.size()}, kHeaderStart);
  return header;
}

/// A regular file, opened; none where something else has the name: a FIFO would wait for its other
/// end, a device may do anything.
inline CacheFile open_regular(const std::string& path, int flags, const char* mode) {
  const int fd = ::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd < 0) return {};
  struct stat about;
  const bool regular = ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  CacheFile file(regular ? ::fdopen(fd, mode) : nullptr);
  if (!file) ::close(fd);
  return file;
}

inline bool write_object(CacheFile file, const ObjectHeader& header, const Vec<char>& object) {
  return std::fwrite(&header, sizeof header, 1, file.get()) == 1 &&
         (object.empty() ||
          std::fwrite(object.data(), 1, object.size(), file.get()) == object.size()) &&
         std::fflush(file.get()) == 0;
}

}  // namespace detail

LATHE_DECL std::string ObjectCache::key(const Llvm& llvm, const Target& target,
                                        std::string_view text) {
  return cat(LATHE_VERSION_STRING, "\n", llvm.version(), "\n", target.str(), "\n", text);
}

LATHE_DECL ObjectId ObjectCache::id(std::string_view key) {
  return {detail::cache_hash(key, detail::kNameStart),
          detail::cache_hash(key, detail::kHeaderStart)};
}

LATHE_DECL std::string ObjectCache::path(const ObjectId& id) const {
  std::string name = folder_ + "/";
  for (int shift = 60; shift >= 0; shift -= 4) name += "0123456789abcdef"[(id.name >> shift) & 15];
  return name + ".lathe";
}

LATHE_DECL bool ObjectCache::find(const ObjectId& id, Vec<char>& object) const {
  if (folder_.empty()) return false;
  detail::CacheFile file = detail::open_regular(path(id), O_RDONLY, "rb");
  detail::ObjectHeader header;
  struct stat about;
  if (!file || std::fread(&header, sizeof header, 1, file.get()) != 1) return false;
  if (header.key != id.check) return false;
  if (fstat(fileno(file.get()), &about) != 0 ||
      static_cast<std::uint64_t>(about.st_size) - sizeof header != header.bytes)
    return false;
  object.resize(static_cast<std::size_t>(header.bytes));
  if (!object.empty() && std::fread(object.data(), 1, object.size(), file.get()) != object.size())
    return false;
  const detail::ObjectHeader whole = detail::object_header(id, object);
  return std::memcmp(&header, &whole, sizeof header) == 0;
}

LATHE_DECL bool ObjectCache::keep(std::string_view key, const Vec<char>& object,
                                  std::string& reason) const {
  static std::atomic<unsigned> count{0};
  if (folder_.empty()) return true;
  ::mkdir(folder_.c_str(), 0700);
  const ObjectId id = ObjectCache::id(key);
  const std::string whole = path(id);
  std::string aside;
  detail::CacheFile file;
  // A name aside may be taken by what a process of this number left behind.
  for (int tries = 0; !file && tries < 8; ++tries) {
    aside = cat(whole, ".", ::getpid(), ".", ++count);
    file = detail::open_regular(aside, O_WRONLY | O_CREAT | O_EXCL, "wb");
    if (!file && errno != EEXIST) break;
  }
  const bool created = static_cast<bool>(file);
  if (created && detail::write_object(std::move(file), detail::object_header(id, object), object) &&
      std::rename(aside.c_str(), whole.c_str()) == 0)
    return true;
  reason = cat("no object is kept in '", folder_, "': ", std::strerror(errno));
  if (created) std::remove(aside.c_str());
  return false;
}

}  // namespace lathe
