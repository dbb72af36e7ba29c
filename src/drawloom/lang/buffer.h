#pragma once
/// Buffers of host memory, as data in C++ and as images in expressions.

#include <initializer_list>
#include <string>
#include <vector>

#include "drawloom/ir/symbol.h"
#include "drawloom/lang/arg.h"
#include "drawloom/lang/types.h"
#include "drawloom/runtime.h"

namespace drawloom {

auto runtime_type(Type type) -> drawloom_type_t;
auto type_of(drawloom_type_t type) -> Type;

/// A drawloom_buffer_t with the memory it describes, if it owns that. One object, shared by handles.
struct HostBuffer : RefCounted {
  HostBuffer(Type type, const std::vector<drawloom_dim_t>& dims);  ///< dims with strides; owns zeroed memory for them
  HostBuffer(Type type, const std::vector<drawloom_dim_t>& dims, void* host);  ///< memory of somebody else
  HostBuffer(const HostBuffer&) = delete;
  ~HostBuffer();
  drawloom_buffer_t raw{};
  std::vector<drawloom_dim_t> dims;
  void* owned = nullptr;
};

/// What stands behind the declaration of an image whose contents are known: an embedded Buffer, an ImageParam that was set.
struct BufferContents : Attachment {
  Ref<HostBuffer> storage;  ///< null: not set
};
/// The contents of an argument buffer that C++ has given; null when there are none.
auto contents_of(const BufferDecl& buffer) -> HostBuffer*;

/// A dimension of an image argument, as expressions of type index.
class BufferDim {
 public:
  BufferDim(BufferRef buffer, int d) : buffer_(std::move(buffer)), d_(static_cast<size_t>(d)) {}
  auto min() const -> Expr;
  auto extent() const -> Expr;
  auto max() const -> Expr;
  auto stride() const -> Expr;

 private:
  BufferRef buffer_;
  size_t d_;
};

/// A handle of any element type and rank; may be undefined. Copies share the memory.
class AnyBuffer {
 public:
  AnyBuffer() = default;
  /// Dense, dimension 0 innermost, mins 0, zeroed.
  AnyBuffer(Type type, const std::vector<int64_t>& extents, const std::string& name = "buffer");
  /// Any min and stride; owns zeroed memory that spans them.
  AnyBuffer(Type type, const std::vector<drawloom_dim_t>& dims, const std::string& name = "buffer");
  /// Memory of the caller: `host` is the element at all mins.
  AnyBuffer(Type type, void* host, const std::vector<drawloom_dim_t>& dims, const std::string& name = "buffer");

  auto defined() const -> bool { return static_cast<bool>(body_); }
  auto type() const -> Type { return type_of(storage().raw.type); }
  auto dimensions() const -> int { return storage().raw.dimensions; }
  auto dim(int d) const -> const drawloom_dim_t& { return storage().dims.at(static_cast<size_t>(d)); }
  auto width() const -> int64_t { return dim(0).extent; }
  auto height() const -> int64_t { return dim(1).extent; }
  auto channels() const -> int64_t { return dim(2).extent; }
  auto number_of_elements() const -> int64_t;
  /// Moves the coordinates: the first element of dimension d is at mins[d].
  void set_min(const std::vector<int64_t>& mins);
  auto name() const -> const std::string&;
  auto raw() const -> drawloom_buffer_t* { return &storage().raw; }
  auto shared() const -> const Ref<HostBuffer>&;

  /// As an image in expressions; the same one for all copies of this handle.
  auto declaration() const -> BufferRef;
  auto load_at(ExprList args, const Loc& loc) const -> Expr;
  /// Address of the element at `coordinates`. Errors: buffer_shape, buffer_index.
  auto address(const std::vector<int64_t>& coordinates) const -> void*;

 protected:
  struct Body;
  auto storage() const -> HostBuffer&;
  void check_type(Type type) const;
  Ref<Body> body_;
  friend void drop_node(const Body* body);

 public:
  AnyBuffer(const AnyBuffer&);
  AnyBuffer(AnyBuffer&&) noexcept;
  auto operator=(AnyBuffer) noexcept -> AnyBuffer&;
  ~AnyBuffer();
};

/// A buffer of T. `b(1, 2)` is an element, `b(x, y)` an expression.
template <typename T>
class Buffer : public AnyBuffer {
 public:
  Buffer() = default;
  template <std::integral... E>
  explicit Buffer(int64_t extent, E... extents)
      : AnyBuffer(type_of<T>(), std::vector<int64_t>{extent, static_cast<int64_t>(extents)...}) {}
  explicit Buffer(const std::vector<int64_t>& extents, const std::string& name = "buffer")
      : AnyBuffer(type_of<T>(), extents, name) {}
  explicit Buffer(const std::vector<drawloom_dim_t>& dims, const std::string& name = "buffer")
      : AnyBuffer(type_of<T>(), dims, name) {}
  Buffer(T* host, const std::vector<drawloom_dim_t>& dims, const std::string& name = "buffer")
      : AnyBuffer(type_of<T>(), host, dims, name) {}
  /// Errors: buffer_type.
  Buffer(const AnyBuffer& other) : AnyBuffer(other) {
    if (defined()) check_type(type_of<T>());
  }
  static auto scalar() -> Buffer { return Buffer(std::vector<int64_t>()); }

  auto data() const -> T* { return static_cast<T*>(raw()->host); }
  template <std::integral... I>
  auto operator()(I... i) const -> T& {
    return *static_cast<T*>(address({static_cast<int64_t>(i)...}));
  }
  auto at(const std::vector<int64_t>& coordinates) const -> T& { return *static_cast<T*>(address(coordinates)); }
  auto operator()(Arg a, Arg b = {}, Arg c = {}, Arg d = {}, Arg e = {}, Arg f = {}) const -> Expr {
    ExprList args;
    for (const auto* arg : {&a, &b, &c, &d, &e, &f}) {
      if (arg->given()) args.push_back(arg->expr());
    }
    return load_at(std::move(args), a.loc());
  }
  /// Every element.
  void fill(T value) const;
  /// `f(coordinates)` for each element, dimension 0 fastest.
  template <typename F>
  void for_each_element(F&& f) const;
};

/// Calls `f(coordinates)` for each point of the buffer, dimension 0 fastest.
template <typename F>
void for_each_point(const AnyBuffer& buffer, F&& f) {
  std::vector<int64_t> at;
  for (int d = 0; d < buffer.dimensions(); ++d) at.push_back(buffer.dim(d).min);
  for (int64_t left = buffer.number_of_elements(); left > 0; --left) {
    f(static_cast<const std::vector<int64_t>&>(at));
    for (int d = 0; d < buffer.dimensions(); ++d) {
      auto& c = at[static_cast<size_t>(d)];
      if (++c < buffer.dim(d).min + buffer.dim(d).extent) break;
      c = buffer.dim(d).min;
    }
  }
}

template <typename T>
void Buffer<T>::fill(T value) const {
  for_each_point(*this, [&](const std::vector<int64_t>& at) { *static_cast<T*>(address(at)) = value; });
}
template <typename T>
template <typename F>
void Buffer<T>::for_each_element(F&& f) const {
  for_each_point(*this, f);
}

}  // namespace drawloom
