#pragma once
/// IR text to running code, and arrays to run it on.

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "drawloom/driver/jit.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"
#include "drawloom/runtime.h"

namespace drawloom {

/// Programs whose subscripts are flat already; the texts need not say so.
inline auto parse_all(std::string_view text) -> std::vector<Program> {
  auto out = parse_programs(str("drawloom-ir 1\n{}", text), "test.ir").or_throw();
  for (auto& p : out) p.flat_storage = true;
  return out;
}

/// `text` with each `$name` replaced.
inline auto with_words(std::string text, const std::vector<std::pair<std::string, std::string>>& words) -> std::string {
  for (const auto& [name, word] : words) {
    for (size_t at; (at = text.find("$" + name)) != text.npos;) text.replace(at, name.size() + 1, word);
  }
  return text;
}

inline auto compile(std::string_view text, Target target = host_target()) -> Ref<const JitModule> {
  return jit_compile(parse_all(text), target).or_throw();
}

template <typename T>
constexpr auto runtime_type_of() -> drawloom_type_t {
  constexpr uint8_t bits = std::is_same_v<T, bool> ? 1 : sizeof(T) * 8;
  if (std::is_floating_point_v<T>) return {drawloom_type_float, bits, 1};
  return {static_cast<uint8_t>(std::is_signed_v<T> ? drawloom_type_int : drawloom_type_uint), bits, 1};
}

/// A dense array with its buffer; bool has one byte per element. All elements start as `fill`.
template <typename T>
class Array {
 public:
  explicit Array(std::vector<int64_t> extents, T fill = T()) : dims_(extents.size()) {
    int64_t n = 1;
    for (size_t d = 0; d < extents.size(); d++) {
      dims_[d] = {0, extents[d], n};
      n *= extents[d];
    }
    data_.assign(static_cast<size_t>(n) + 1, static_cast<Stored>(fill));
    buffer_ = {data_.data(), 0,      nullptr, 0, runtime_type_of<T>(), static_cast<int32_t>(dims_.size()),
               dims_.data(), nullptr};
  }
  Array(const Array&) = delete;

  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  auto operator[](size_t i) -> Stored& { return data_[i]; }
  auto size() const -> size_t { return data_.size() - 1; }
  auto buffer() -> drawloom_buffer_t* { return &buffer_; }
  auto dim(int d) -> drawloom_dim_t& { return dims_[d]; }

 private:
  std::vector<Stored> data_;
  std::vector<drawloom_dim_t> dims_;
  drawloom_buffer_t buffer_;
};

/// A dense array of rank 1 whose end (or start) touches a page that faults.
template <typename T>
class GuardedArray {
 public:
  GuardedArray(int64_t n, bool at_end) : bytes_((n * int64_t(sizeof(T)) + kPage - 1) / kPage * kPage) {
    map_ = static_cast<char*>(mmap(nullptr, size_t(bytes_ + 2 * kPage), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(map_ != MAP_FAILED);
    if (bytes_) REQUIRE(mprotect(map_ + kPage, size_t(bytes_), PROT_READ | PROT_WRITE) == 0);
    char* start = map_ + kPage + (at_end ? bytes_ - n * int64_t(sizeof(T)) : 0);
    data_ = reinterpret_cast<T*>(start);
    dim_ = {0, n, 1};
    buffer_ = {data_, 0, nullptr, 0, runtime_type_of<T>(), 1, &dim_, nullptr};
  }
  ~GuardedArray() { munmap(map_, size_t(bytes_ + 2 * kPage)); }
  GuardedArray(const GuardedArray&) = delete;

  auto operator[](int64_t i) -> T& { return data_[i]; }
  auto size() const -> int64_t { return dim_.extent; }
  auto buffer() -> drawloom_buffer_t* { return &buffer_; }

 private:
  static constexpr int64_t kPage = 4096;
  int64_t bytes_;
  char* map_;
  T* data_;
  drawloom_dim_t dim_;
  drawloom_buffer_t buffer_;
};

/// A context of the default table whose errors are kept quiet.
struct QuietContext {
  QuietContext() {
    drawloom_context_init(&context, nullptr, nullptr);
    context.on_error = drawloom_on_error_quiet;
  }
  auto message() -> std::string {
    char text[drawloom_message_bytes];
    drawloom_last_error(&context, text, sizeof text);
    return text;
  }
  drawloom_context_t context;
};

/// Calls NAME_argv; each argument is an Array or a pointer to a scalar.
template <typename... Args>
auto run(const JitModule& module, std::string_view name, drawloom_context_t* ctx, Args&&... args) -> int {
  auto slot = [](auto& a) -> void* {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(a)>>) {
      return const_cast<void*>(static_cast<const void*>(a));
    } else {
      return a.buffer();
    }
  };
  void* slots[sizeof...(Args) + 1] = {slot(args)..., nullptr};
  const auto entry = module.argv(name);
  if (!entry) throw std::logic_error(str("no function {}", name));
  return entry(ctx, slots);
}

}  // namespace drawloom
