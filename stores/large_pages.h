#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace semel {

/// Allocates like any other, but asks for large pages where a table is larger than one: a search in
/// it would else miss the processor's cache of page addresses, each time anew.
template <class T>
class LargePages {
 public:
  using value_type = T;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}  // NOLINT: allocators convert.

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kPage) return static_cast<T*>(::operator new(bytes));
    const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
    void* const table = std::aligned_alloc(kPage, pages);
    if (table == nullptr) throw std::bad_alloc();
    ::madvise(table, pages, MADV_HUGEPAGE);  // Where it says no, nothing but time is lost.
    return static_cast<T*>(table);
  }
  void deallocate(T* table, std::size_t count) noexcept {
    if (count * sizeof(T) < kPage) {
      ::operator delete(table);
    } else {
      std::free(table);
    }
  }
  bool operator==(const LargePages&) const = default;

 private:
  static constexpr std::size_t kPage = 2 * 1024 * 1024;
};

}  // namespace semel
