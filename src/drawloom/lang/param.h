#pragma once
/// What a pipeline is given at the call: scalars (Param) and images (ImageParam).

#include <string>

#include "drawloom/lang/buffer.h"
#include "drawloom/lang/operators.h"

namespace drawloom {

/// What `Param::set` leaves behind the symbol, for calls from C++: the bits of the scalar.
struct ParamValue : Attachment {
  bool is_set = false;
  union {
    int64_t integer;  ///< of an integer or bool type
    double real;      ///< of a floating type
  };
};
/// The value behind a Param's symbol; null if it was made elsewhere.
auto value_of(const Symbol& param) -> const ParamValue*;

/// What Params of all types share.
class AnyParam {
 public:
  auto name() const -> const std::string& { return symbol_->name; }
  auto type() const -> Type { return symbol_->type; }
  auto symbol() const -> SymbolRef { return symbol_; }
  auto to_expr(const Loc& loc) const -> Expr;
  operator Expr() const { return to_expr({}); }

 protected:
  AnyParam(Type type, const std::string& name, const Loc& loc);
  void set_integer(int64_t value);
  void set_real(double value);
  auto value() const -> const ParamValue& { return *value_of(*symbol_); }
  Ref<Symbol> symbol_;
};

/// A scalar argument. An integer one that meets Vars is index: its range, if any, is checked at the call.
template <typename T>
class Param : public AnyParam {
 public:
  /// Named `p` unless said; names are unique within a pipeline. Errors: name_malformed.
  explicit Param(const std::string& name = "p", const std::source_location& at = std::source_location::current())
      : AnyParam(type_of<T>(), name, at) {}
  Param(const std::string& name, T value, const std::source_location& at = std::source_location::current())
      : AnyParam(type_of<T>(), name, at) {
    set(value);
  }
  Param(const std::string& name, T value, T min, T max,
        const std::source_location& at = std::source_location::current())
    requires std::integral<T>
      : Param(name, value, at) {
    set_range(min, max);
  }

  /// For the next calls from C++.
  void set(T value) {
    if constexpr (std::integral<T>) {
      set_integer(static_cast<int64_t>(value));
    } else {
      set_real(value);
    }
  }
  auto get() const -> T {
    if constexpr (std::integral<T>) return static_cast<T>(value().integer);
    return static_cast<T>(value().real);
  }
  /// A promise: min <= value <= max. Checked at the call.
  void set_range(T min, T max)
    requires std::integral<T>
  {
    symbol_->min = static_cast<int64_t>(min);
    symbol_->max = static_cast<int64_t>(max);
  }
  void set_min_value(T min)
    requires std::integral<T>
  {
    symbol_->min = static_cast<int64_t>(min);
  }
  void set_max_value(T max)
    requires std::integral<T>
  {
    symbol_->max = static_cast<int64_t>(max);
  }
};

/// An image argument, known by type and rank; its size comes with the call.
class ImageParam {
 public:
  /// Errors: name_malformed.
  ImageParam(Type type, int dimensions, const std::string& name = "image",
             const std::source_location& at = std::source_location::current());

  auto operator()(Arg a, Arg b = {}, Arg c = {}, Arg d = {}, Arg e = {}, Arg f = {}) const -> Expr;
  auto operator()(ExprList args, const std::source_location& at = std::source_location::current()) const -> Expr;

  auto name() const -> const std::string& { return buffer_->name; }
  auto type() const -> Type { return buffer_->element; }
  auto dimensions() const -> int { return buffer_->rank; }
  auto dim(int d) const -> BufferDim { return {buffer_, d}; }
  auto width() const -> Expr { return dim(0).extent(); }
  auto height() const -> Expr { return dim(1).extent(); }
  auto channels() const -> Expr { return dim(2).extent(); }

  /// The buffer for the next calls from C++. Errors: buffer_type, buffer_shape.
  void set(const AnyBuffer& contents);
  void reset();
  auto buffer() const -> const BufferRef& { return buffer_; }

 private:
  BufferRef buffer_;
  Ref<BufferContents> contents_;
};

}  // namespace drawloom
