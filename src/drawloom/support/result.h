#pragma once
/// A value, or the Diag that says why there is none.

#include <utility>
#include <variant>

#include "drawloom/support/check.h"
#include "drawloom/support/diag.h"

namespace drawloom {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Diag diag) : state_(std::move(diag)) {}

  auto ok() const -> bool { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  auto value() & -> T& { return *checked(); }
  auto value() const& -> const T& { return *const_cast<Result*>(this)->checked(); }
  auto value() && -> T { return std::move(*checked()); }
  auto operator->() -> T* { return checked(); }
  auto operator->() const -> const T* { return const_cast<Result*>(this)->checked(); }
  auto operator*() & -> T& { return *checked(); }
  auto operator*() const& -> const T& { return value(); }
  auto diag() const -> const Diag& { return std::get<1>(state_); }
  /// The value, or throws Error: for the fluent door and for tests.
  auto or_throw() && -> T {
    if (!ok()) throw Error(diag());
    return std::move(std::get<0>(state_));
  }

 private:
  auto checked() -> T* {
    DRAWLOOM_CHECK(ok(), "value of a failed Result: {}", diag().text());
    return &std::get<0>(state_);
  }
  std::variant<T, Diag> state_;
};

/// Success without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace drawloom

#define DRAWLOOM_CONCAT_(a, b) a##b
#define DRAWLOOM_CONCAT(a, b) DRAWLOOM_CONCAT_(a, b)
/// DRAWLOOM_TRY(auto x, f()): binds the value, or returns the Diag from the enclosing function.
#define DRAWLOOM_TRY(decl, ...) DRAWLOOM_TRY_(DRAWLOOM_CONCAT(try_result_, __LINE__), decl, __VA_ARGS__)
#define DRAWLOOM_TRY_(tmp, decl, ...) \
  auto tmp = (__VA_ARGS__);           \
  if (!tmp.ok()) return tmp.diag();   \
  decl = std::move(tmp).value()
/// DRAWLOOM_REQUIRE(f()): for results without an interesting value.
#define DRAWLOOM_REQUIRE(...) \
  if (auto required = (__VA_ARGS__); !required.ok()) return required.diag()
