#pragma once
/// Intrusive, atomically counted references for immutable shared nodes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace drawloom {

/// Base of every shared node. Copying a node never copies its count.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) noexcept {}
  auto operator=(const RefCounted&) noexcept -> RefCounted& { return *this; }

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True when the last reference went and the caller has to delete the node.
  auto release() const noexcept -> bool { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  auto ref_count() const noexcept -> uint32_t { return count_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<uint32_t> count_{0};
};

/// Deletes a node whose last reference went. Kind-tagged nodes without virtual functions overload this
/// (found by argument-dependent lookup) to reach their real type.
template <typename T>
void drop_node(const T* node) {
  delete node;
}

/// A nullable reference. Equality is identity; structural equality is a named function of the node's layer.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(T* node) : node_(node) { retain(); }
  Ref(const Ref& other) : node_(other.node_) { retain(); }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  /// Widens derived to base, or adds const.
  template <typename U>
    requires(!__is_same(U, T) && requires(U* u) { static_cast<void>([](T*) {}(u)); })
  Ref(const Ref<U>& other) : node_(other.get()) {
    retain();
  }
  ~Ref() { drop(); }
  auto operator=(Ref other) noexcept -> Ref& {
    std::swap(node_, other.node_);
    return *this;
  }

  auto get() const -> T* { return node_; }
  auto operator->() const -> T* { return node_; }
  auto operator*() const -> T& { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend auto operator==(const Ref& a, const Ref& b) -> bool { return a.node_ == b.node_; }
  friend auto operator<=>(const Ref& a, const Ref& b) { return a.node_ <=> b.node_; }

 private:
  void retain() const {
    if (node_) node_->retain();
  }
  void drop() {
    if (node_ && node_->release()) drop_node(node_);
  }
  T* node_ = nullptr;
};

template <typename T, typename... Args>
auto make_ref(Args&&... args) -> Ref<T> {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace drawloom
