/// A context that keeps what it is told, for tests of messages.
#pragma once

#include <string>

#include "drawloom/runtime.h"

/// One with the default table; says nothing on stderr.
struct ListeningContext : drawloom_context_t {
  ListeningContext() {
    drawloom_context_init(this, nullptr, nullptr);
    on_error = [](drawloom_context_t* ctx, int code, const char* message) {
      auto* listening = static_cast<ListeningContext*>(ctx);
      listening->count++;
      listening->code = code;
      listening->message = message;
    };
  }
  int count = 0;
  int code = 0;
  std::string message;
};

/// A buffer that owns its list of dimensions.
struct ShapedBuffer : drawloom_buffer_t {
  static constexpr int kMostDims = 4;
  drawloom_dim_t dims[kMostDims] = {};
  template <typename... Dims>
  ShapedBuffer(void* at, drawloom_type_t of, Dims... shape) : drawloom_buffer_t{}, dims{shape...} {
    host = at;
    type = of;
    dimensions = sizeof...(shape);
    dim = dims;
  }
  ShapedBuffer(const ShapedBuffer& other) : drawloom_buffer_t(other) {
    for (int i = 0; i < kMostDims; i++) dims[i] = other.dims[i];
    dim = dims;
  }
  ShapedBuffer& operator=(const ShapedBuffer&) = delete;
};

inline constexpr drawloom_type_t kUint8 = {drawloom_type_uint, 8, 1};
inline constexpr drawloom_type_t kUint16 = {drawloom_type_uint, 16, 1};
inline constexpr drawloom_type_t kInt32 = {drawloom_type_int, 32, 1};
inline constexpr drawloom_type_t kFloat32 = {drawloom_type_float, 32, 1};
