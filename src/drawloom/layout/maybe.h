#pragma once
/// A value, or the sentence that says why there is none. Questions inside the layout engine ("is this map a multiple of
/// that tile?") fail often and are asked by code, not by a user: no location, no registered kind. Who asks on behalf of
/// a user puts the sentence into a Diag.

#include <string>
#include <utility>
#include <variant>

#include "drawloom/support/check.h"

namespace drawloom {

struct Refusal {
  std::string why;
};

template <typename T>
class [[nodiscard]] Maybe {
 public:
  Maybe(T value) : state_(std::move(value)) {}
  Maybe(Refusal refusal) : state_(std::move(refusal)) {}

  auto ok() const -> bool { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  auto why() const -> const std::string& { return std::get<1>(state_).why; }
  /// The refusal, under the name that DRAWLOOM_TRY hands on.
  auto diag() const -> const Refusal& { return std::get<1>(state_); }
  auto value() const& -> const T& {
    DRAWLOOM_CHECK(ok(), "no value: {}", why());
    return std::get<0>(state_);
  }
  auto value() && -> T {
    DRAWLOOM_CHECK(ok(), "no value: {}", why());
    return std::move(std::get<0>(state_));
  }
  auto operator*() const& -> const T& { return value(); }
  auto operator->() const -> const T* { return &value(); }

 private:
  std::variant<T, Refusal> state_;
};

}  // namespace drawloom
