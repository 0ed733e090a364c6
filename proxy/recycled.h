#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace semel::proxy {

/// Base of a class whose objects come and go with every request: the room of one that ended is the
/// room of the next on the same thread, without the allocator (docs/performance.md).
template <class T>
class Recycled {
 public:
  static void* operator new(std::size_t size) {
    auto& kept = rooms().kept;
    if (kept.empty() || size != sizeof(T)) return ::operator new(size);
    void* room = kept.back();
    kept.pop_back();
    return room;
  }
  static void operator delete(void* room, std::size_t size) {
    auto& kept = rooms().kept;
    if (size != sizeof(T) || kept.size() >= kKept) {
      ::operator delete(room);
    } else {
      kept.push_back(room);
    }
  }

 protected:
  Recycled() = default;
  ~Recycled() = default;

 private:
  static constexpr std::size_t kKept = 256;
  struct Rooms {
    Rooms() { kept.reserve(kKept); }
    ~Rooms() {
      for (void* room : kept) ::operator delete(room);
    }
    std::vector<void*> kept;
  };
  static Rooms& rooms() {
    thread_local Rooms rooms;
    return rooms;
  }
};

}  // namespace semel::proxy
