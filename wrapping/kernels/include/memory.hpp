// Asks for huge pages where the system has them: a fresh output is then mapped in few faults.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace consensus {

// A hint about memory the caller owns; nothing is read, written or required.
inline void prefer_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::size_t kWorthIt = std::size_t{1} << 22;
  constexpr std::uintptr_t kPage = 4096;
  if (bytes < kWorthIt) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) / kPage * kPage;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace consensus
