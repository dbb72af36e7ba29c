#pragma once
/// A fact that a shared value finds out about itself.

#include <atomic>

namespace drawloom {

/// Something found out when first asked for. Belongs to its owner alone: a copy starts without.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) noexcept {}
  auto operator=(const Lazy&) noexcept -> Lazy& { return *this; }
  ~Lazy() { delete value_.load(std::memory_order_acquire); }

  /// What was found out, or null.
  auto known() const -> const T* { return value_.load(std::memory_order_acquire); }

  template <typename Make>
  auto get(Make&& make) const -> const T& {
    if (const auto* ready = known()) return *ready;
    const auto* made = new T(make());
    const T* expected = nullptr;
    if (value_.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
    delete made;  // another thread was faster
    return *expected;
  }

 private:
  mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace drawloom
