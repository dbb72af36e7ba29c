#include "drawloom/lang/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "drawloom/ir/build.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/var.h"

namespace drawloom {
namespace {

auto dense(const std::vector<int64_t>& extents) -> std::vector<drawloom_dim_t> {
  std::vector<drawloom_dim_t> out;
  int64_t stride = 1;
  for (const int64_t e : extents) {
    out.push_back({0, e, stride});
    stride *= std::max<int64_t>(e, 1);
  }
  return out;
}

/// Offsets in elements of the lowest and highest element from the one at all mins.
struct Span {
  int64_t low = 0, high = 0;
};
auto span_of(const std::vector<drawloom_dim_t>& dims) -> Span {
  Span s;
  for (const auto& d : dims) {
    const int64_t far = std::max<int64_t>(d.extent - 1, 0) * d.stride;
    (far < 0 ? s.low : s.high) += far;
  }
  return s;
}

void describe(HostBuffer& b, Type type, void* host) {
  b.raw.host = host;
  b.raw.type = runtime_type(type);
  b.raw.dimensions = static_cast<int32_t>(b.dims.size());
  b.raw.dim = b.dims.data();
}

}  // namespace

auto runtime_type(Type type) -> drawloom_type_t {
  const auto code = type.code == TypeCode::Float    ? drawloom_type_float
                    : type.code == TypeCode::BFloat ? drawloom_type_bfloat
                    : type.code == TypeCode::UInt   ? drawloom_type_uint
                                                    : drawloom_type_int;
  return {static_cast<uint8_t>(code), type.bits, 1};
}
auto type_of(drawloom_type_t type) -> Type {
  constexpr TypeCode kCodes[] = {TypeCode::Int, TypeCode::UInt, TypeCode::Float, TypeCode::BFloat};
  return {kCodes[type.code], type.bits, 1};
}

HostBuffer::HostBuffer(Type type, const std::vector<drawloom_dim_t>& d) : dims(d) {
  constexpr size_t kAlign = 64;
  const Span span = span_of(dims);
  const auto bytes = static_cast<size_t>(span.high - span.low + 1) * static_cast<size_t>(type.bytes());
  const size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  owned = std::aligned_alloc(kAlign, rounded);
  if (!owned) throw std::bad_alloc();
  std::memset(owned, 0, rounded);
  describe(*this, type, static_cast<char*>(owned) - span.low * type.bytes());
}
HostBuffer::HostBuffer(Type type, const std::vector<drawloom_dim_t>& d, void* host) : dims(d) {
  describe(*this, type, host);
}
HostBuffer::~HostBuffer() { std::free(owned); }

auto contents_of(const BufferDecl& buffer) -> HostBuffer* {
  const auto* contents = dynamic_cast<const BufferContents*>(buffer.attached.get());
  return contents ? contents->storage.get() : nullptr;
}

namespace {
auto field(const std::vector<SymbolRef>& list, size_t d, const BufferDecl& buffer) -> Expr {
  if (d >= list.size()) {
    throw Error(Diag(DiagKind::name_missing, buffer.loc, buffer.name, counted(buffer.rank, "dimension"),
                     str("dimension {}", d)));
  }
  return var_ref(list[d], buffer.loc);
}
}  // namespace
auto BufferDim::min() const -> Expr { return field(buffer_->min, d_, *buffer_); }
auto BufferDim::extent() const -> Expr { return field(buffer_->extent, d_, *buffer_); }
auto BufferDim::stride() const -> Expr { return field(buffer_->stride, d_, *buffer_); }
auto BufferDim::max() const -> Expr {
  const Expr past = binary(BinaryOp::Add, min(), extent(), buffer_->loc);
  return binary(BinaryOp::Sub, past, index_imm(1, buffer_->loc), buffer_->loc);
}

/// `decl` owns `storage` too, never the other way round: nothing owns itself.
struct AnyBuffer::Body : RefCounted {
  Ref<HostBuffer> storage;
  std::string name;
  BufferRef decl;
};
void drop_node(const AnyBuffer::Body* body) { delete body; }

AnyBuffer::AnyBuffer(const AnyBuffer&) = default;
AnyBuffer::AnyBuffer(AnyBuffer&&) noexcept = default;
auto AnyBuffer::operator=(AnyBuffer other) noexcept -> AnyBuffer& {
  std::swap(body_, other.body_);
  return *this;
}
AnyBuffer::~AnyBuffer() = default;

AnyBuffer::AnyBuffer(Type type, const std::vector<int64_t>& extents, const std::string& name)
    : AnyBuffer(type, dense(extents), name) {}
AnyBuffer::AnyBuffer(Type type, const std::vector<drawloom_dim_t>& dims, const std::string& name)
    : body_(make_ref<Body>()) {
  body_->storage = make_ref<HostBuffer>(type, dims);
  body_->name = checked_name(name, {});
}
AnyBuffer::AnyBuffer(Type type, void* host, const std::vector<drawloom_dim_t>& dims, const std::string& name)
    : body_(make_ref<Body>()) {
  body_->storage = make_ref<HostBuffer>(type, dims, host);
  body_->name = checked_name(name, {});
}

auto AnyBuffer::storage() const -> HostBuffer& {
  DRAWLOOM_CHECK(defined(), "an undefined Buffer has no storage");
  return *body_->storage;
}
auto AnyBuffer::shared() const -> const Ref<HostBuffer>& {
  DRAWLOOM_CHECK(defined(), "an undefined Buffer has no storage");
  return body_->storage;
}
auto AnyBuffer::name() const -> const std::string& { return body_->name; }
auto AnyBuffer::number_of_elements() const -> int64_t {
  int64_t n = 1;
  for (const auto& d : storage().dims) n *= std::max<int64_t>(d.extent, 0);
  return n;
}
void AnyBuffer::set_min(const std::vector<int64_t>& mins) {
  if (mins.size() != storage().dims.size()) {
    throw Error(Diag(DiagKind::buffer_shape, {}, name(), counted(dimensions(), "dimension"), mins.size()));
  }
  for (size_t d = 0; d < mins.size(); ++d) storage().dims[d].min = mins[d];
}

auto AnyBuffer::declaration() const -> BufferRef {
  if (!body_->decl) {
    auto decl = make_ref<BufferDecl>(body_->name, type(), dimensions(), MemoryKind::Argument);
    auto contents = make_ref<BufferContents>();
    contents->storage = body_->storage;
    decl->attached = Ref<const Attachment>(contents);
    body_->decl = decl;
  }
  return body_->decl;
}
auto AnyBuffer::load_at(ExprList args, const Loc& loc) const -> Expr {
  if (static_cast<int>(args.size()) != dimensions()) {
    throw Error(Diag(DiagKind::func_arity, loc, name(), counted(dimensions(), "dimension"), args.size()));
  }
  for (auto& e : args) e = subscript(e, name()).or_throw();
  return load(declaration(), std::move(args), {}, {}, loc);
}

auto AnyBuffer::address(const std::vector<int64_t>& coordinates) const -> void* {
  const auto& dims = storage().dims;
  if (coordinates.size() != dims.size()) {
    throw Error(Diag(DiagKind::buffer_shape, {}, name(), counted(dimensions(), "dimension"), coordinates.size()));
  }
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t from_min = coordinates[d] - dims[d].min;
    if (from_min < 0 || from_min >= dims[d].extent) {
      throw Error(Diag(DiagKind::buffer_index, {}, name(), coordinates[d], d));
    }
    offset += from_min * dims[d].stride;
  }
  return static_cast<char*>(raw()->host) + offset * type().bytes();
}
void AnyBuffer::check_type(Type wanted) const {
  if (type() != wanted) throw Error(Diag(DiagKind::buffer_type, {}, name(), type(), wanted));
}

}  // namespace drawloom
