// Example, an mma with two result registers that it adds to, and one input:
//
//     text          "mma {d}, {a};"   d: results, tied to the values before   a: input
//     becomes       "mma {$0, $1}, $4;"   with the constraints  =f,=f,0,1,r
//
// The tied inputs are operands 2 and 3; the text names them by the results 0 and 1, as they are the same registers. So
// the number of an input is the number of results plus that of the inputs before it, tied ones included.
#include "drawloom/codegen/llvm/nvptx/inline_code.h"

#include "drawloom/support/check.h"
#include "llvm/IR/InlineAsm.h"

namespace drawloom::codegen {
namespace {

/// The constraint of a register of a type.
auto letter(llvm::Type* t) -> std::string_view {
  if (t->isFloatTy()) return "f";
  if (t->isDoubleTy()) return "d";
  if (t->isIntegerTy(1)) return "b";
  if (t->isIntegerTy(16)) return "h";
  if (t->isIntegerTy(64) || t->isPointerTy()) return "l";
  DRAWLOOM_CHECK(t->isIntegerTy(32), "codegen: no register for an operand of inline PTX");
  return "r";
}

void add(std::string& list, std::string_view constraint) {
  if (!list.empty()) list += ',';
  list += constraint;
}

auto numbered(int first, size_t count, bool list) -> std::string {
  if (count == 1 && !list) return str("${}", first);
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += str("{}${}", i == 0 ? "" : ", ", first + static_cast<int>(i));
  return out + "}";
}

}  // namespace

void InlineCode::put(std::string_view name, const std::string& what) {
  const std::string place = "{" + std::string(name) + "}";
  for (size_t at = text_.find(place); at != std::string::npos; at = text_.find(place, at + what.size())) {
    text_.replace(at, place.size(), what);
  }
}

auto InlineCode::results(std::string_view name, llvm::Type* type, const std::vector<llvm::Value*>& homes) -> int {
  DRAWLOOM_CHECK(inputs_.empty(), "codegen: a result of inline PTX after its inputs");
  const int first = static_cast<int>(results_.size());
  for (llvm::Value* home : homes) {
    add(result_constraints_, str("={}", letter(type)));
    results_.push_back(type);
    homes_.push_back(home);
  }
  put(name, numbered(first, homes.size(), false));
  return first;
}

void InlineCode::inputs(std::string_view name, const std::vector<llvm::Value*>& values, bool list) {
  put(name, numbered(static_cast<int>(results_.size() + inputs_.size()), values.size(), list));
  for (llvm::Value* v : values) {
    add(input_constraints_, letter(v->getType()));
    inputs_.push_back(v);
  }
}

void InlineCode::tie(const std::vector<llvm::Value*>& values, int first) {
  for (llvm::Value* v : values) {
    add(input_constraints_, str("{}", first++));
    inputs_.push_back(v);
  }
}

void InlineCode::constant(std::string_view name, int64_t value) { put(name, str("{}", value)); }

void InlineCode::emit(llvm::IRBuilder<>& b) {
  std::string constraints = result_constraints_;
  if (!input_constraints_.empty()) add(constraints, input_constraints_);
  llvm::Type* type = llvm::Type::getVoidTy(b.getContext());
  if (results_.size() == 1) type = results_[0];
  if (results_.size() > 1) type = llvm::StructType::get(b.getContext(), results_);
  llvm::CallInst* call = call_inline(b, type, text_, constraints, inputs_);
  for (size_t i = 0; i < homes_.size(); ++i) {
    llvm::Value* v =
        homes_.size() == 1 ? static_cast<llvm::Value*>(call) : b.CreateExtractValue(call, static_cast<unsigned>(i));
    b.CreateStore(v, homes_[i]);
  }
}

auto call_inline(llvm::IRBuilder<>& b, llvm::Type* result, std::string_view text, std::string constraints,
                 llvm::ArrayRef<llvm::Value*> inputs) -> llvm::CallInst* {
  // For every piece: its operands do not say what it does to memory.
  add(constraints, "~{memory}");
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : inputs) types.push_back(v->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* code = llvm::InlineAsm::get(type, text, constraints, /*hasSideEffects=*/true);
  llvm::CallInst* call = b.CreateCall(code, inputs);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

}  // namespace drawloom::codegen
