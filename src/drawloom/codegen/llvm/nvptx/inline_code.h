#pragma once
/// One piece of inline PTX under construction. Internal to codegen/llvm.

#include <string>
#include <string_view>
#include <vector>

#include "drawloom/codegen/llvm/llvm_headers.h"

namespace drawloom::codegen {

/// LLVM numbers results first, then inputs; an input tied to a result has a number of its own that the text does not use.
/// So all results are given before the first input.
class InlineCode {
 public:
  /// `{name}` in the text stands for an operand.
  explicit InlineCode(std::string text) : text_(std::move(text)) {}

  /// Registers whose values go to `homes`. The number of the first.
  auto results(std::string_view name, llvm::Type* type, const std::vector<llvm::Value*>& homes) -> int;
  /// `list`: in braces even if it is one.
  void inputs(std::string_view name, const std::vector<llvm::Value*>& values, bool list);
  /// The results from `first` on start with these values.
  void tie(const std::vector<llvm::Value*>& values, int first);
  void constant(std::string_view name, int64_t value);

  void emit(llvm::IRBuilder<>& b);

 private:
  void put(std::string_view name, const std::string& what);

  std::string text_, result_constraints_, input_constraints_;
  std::vector<llvm::Type*> results_;
  std::vector<llvm::Value*> inputs_, homes_;
};

/// Inline PTX that may do anything to memory and that all threads of a warp run together.
auto call_inline(llvm::IRBuilder<>& b, llvm::Type* result, std::string_view text, std::string constraints,
                 llvm::ArrayRef<llvm::Value*> inputs) -> llvm::CallInst*;

}  // namespace drawloom::codegen
