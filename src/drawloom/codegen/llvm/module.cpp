/// What the functions of one module share: types, constants, outside functions, alias tags.

#include "drawloom/codegen/llvm/module.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {

ModuleEmitter::ModuleEmitter(llvm::Module& mod, const Target& tgt, int bits, const DeviceCode* code)
    : module(mod), context(mod.getContext()), target(tgt), index_bits(bits), device(code) {
  ptr = llvm::PointerType::get(context, 0);
  i1 = llvm::Type::getInt1Ty(context);
  i8 = llvm::Type::getInt8Ty(context);
  i32 = llvm::Type::getInt32Ty(context);
  i64 = llvm::Type::getInt64Ty(context);
  tbaa_root_ = llvm::MDBuilder(context).createTBAARoot("drawloom storage");
}

auto ModuleEmitter::scalar_type(Type t) -> llvm::Type* {
  if (!t.is_float()) return llvm::IntegerType::get(context, width(t));
  if (t.code == TypeCode::BFloat) return llvm::Type::getBFloatTy(context);
  if (t.bits == 16) return llvm::Type::getHalfTy(context);
  return t.bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
}

auto ModuleEmitter::value_type(Type t) -> llvm::Type* {
  return t.lanes == 1 ? scalar_type(t) : llvm::FixedVectorType::get(scalar_type(t), t.lanes);
}

auto ModuleEmitter::memory_type(Type t) -> llvm::Type* { return t.is_bool() ? i8 : scalar_type(t); }

auto ModuleEmitter::constant_text(std::string_view text) -> llvm::Constant* {
  auto [it, is_new] = texts_.try_emplace(std::string(text), nullptr);
  if (is_new) {
    llvm::Constant* data = llvm::ConstantDataArray::getString(context, llvm::StringRef(text.data(), text.size()));
    auto* global =
        new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "text");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    it->second = global;
  }
  return it->second;
}

auto ModuleEmitter::constant_struct(const std::vector<llvm::Constant*>& fields, std::string_view name)
    -> llvm::Constant* {
  llvm::Constant* data = llvm::ConstantStruct::getAnon(context, fields);
  auto* global = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                          llvm::StringRef(name.data(), name.size()));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(8));
  return global;
}

auto ModuleEmitter::external(std::string_view name, llvm::FunctionType* type) -> llvm::Function* {
  const llvm::StringRef ref(name.data(), name.size());
  if (llvm::Function* known = module.getFunction(ref)) return known;
  auto* fn = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, ref, module);
  fn->setDoesNotThrow();
  return fn;
}

auto ModuleEmitter::new_storage_tag(std::string_view name) -> llvm::MDNode* {
  llvm::MDBuilder md(context);
  llvm::MDNode* type = md.createTBAAScalarTypeNode(str("{} {}", name, storages_++), tbaa_root_);
  return md.createTBAAStructTagNode(type, type, 0);
}

}  // namespace drawloom::codegen
