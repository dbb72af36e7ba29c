/// Entry points: the context, checks of the arguments through the table, their fields as symbols; and the uniform form
/// `NAME_argv`.
///
///     func @blur(%in: buffer<u16, 2>, out %out: buffer<u16, 2>, %k: f32)   becomes
///     int blur(context, buffer *in, buffer *out, float k)    and    int blur_argv(context, void **args)
///
/// The order in it matters: a context is found before anything can be reported, the buffers are checked before their
/// fields are read, and an output is marked as newer only when everything was written.

#include <cstring>

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/device.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {
namespace {

auto bound_value(Type t, int64_t v) -> drawloom_scalar_t {
  drawloom_scalar_t out;
  out.i = v;  // the union's integers share their bits
  if (t.is_float()) out.f = static_cast<double>(v);
  return out;
}

}  // namespace

auto runtime_type(Type t) -> drawloom_type_t {
  drawloom_type_t out{drawloom_type_int, t.bits, 1};
  switch (t.code) {
    case TypeCode::Int:
    case TypeCode::Index: break;
    case TypeCode::UInt: out.code = drawloom_type_uint; break;
    case TypeCode::Float: out.code = drawloom_type_float; break;
    case TypeCode::BFloat: out.code = drawloom_type_bfloat; break;
  }
  return out;
}

/// In C a bool parameter is a byte.
static auto parameter_type(ModuleEmitter& m, const Argument& a) -> llvm::Type* {
  if (std::holds_alternative<BufferArgument>(a)) return m.ptr;
  return m.memory_type(std::get<ScalarArgument>(a).symbol->type);
}

/// The C ABI lets callee and caller rely on narrow integers being extended.
static void add_extension(llvm::Function* fn, unsigned i, const Argument& a) {
  const auto* scalar = std::get_if<ScalarArgument>(&a);
  if (!scalar || scalar->symbol->type.is_float() || scalar->symbol->type.bits >= 32) return;
  fn->addParamAttr(i, scalar->symbol->type.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
}

static auto make_function(ModuleEmitter& m, const std::string& name, const std::vector<llvm::Type*>& types) {
  auto* type = llvm::FunctionType::get(m.i32, types, false);
  auto* fn = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, m.module);
  fn->setDoesNotThrow();
  fn->getArg(0)->setName("ctx");
  return fn;
}

static void emit_argv(ModuleEmitter& m, const Program& program, llvm::Function* entry) {
  llvm::Function* fn = make_function(m, program.name + "_argv", {m.ptr, m.ptr});
  llvm::IRBuilder<> b(BasicBlock::Create(m.context, "entry", fn));
  std::vector<Value*> args = {fn->getArg(0)};
  for (size_t i = 0; i < program.arguments.size(); i++) {
    Value* slot = b.CreateLoad(m.ptr, b.CreateConstInBoundsGEP1_64(m.ptr, fn->getArg(1), i));
    const bool is_buffer = std::holds_alternative<BufferArgument>(program.arguments[i]);
    args.push_back(is_buffer ? slot : b.CreateLoad(parameter_type(m, program.arguments[i]), slot));
  }
  llvm::CallInst* call = b.CreateCall(entry, args);
  for (unsigned i = 0; i < args.size(); i++) {
    for (auto kind : {llvm::Attribute::SExt, llvm::Attribute::ZExt}) {
      if (entry->hasParamAttribute(i, kind)) call->addParamAttr(i, kind);
    }
  }
  b.CreateRet(call);
}

void ModuleEmitter::emit(const Program& program) {
  std::vector<llvm::Type*> types = {ptr};
  for (const Argument& a : program.arguments) types.push_back(parameter_type(*this, a));
  llvm::Function* fn = make_function(*this, program.name, types);
  for (unsigned i = 0; i < program.arguments.size(); i++) add_extension(fn, i + 1, program.arguments[i]);
  FunctionEmitter(*this, program, fn, nullptr).emit_entry();
  emit_argv(*this, program, fn);
}

void FunctionEmitter::emit_entry() {
  default_context();
  open_body();
  if (!launches({program_}).empty()) find_device();
  check_arguments();
  load_arguments();
  place_arguments();
  if (program_.body) emit(program_.body);
  mark_outputs();
  finish();
}

/// The copy of an output where it was written is now the newest.
void FunctionEmitter::mark_outputs() {
  for (unsigned i = 0; i < program_.arguments.size(); i++) {
    const auto* a = std::get_if<BufferArgument>(&program_.arguments[i]);
    if (!a || a->role != ArgumentRole::Output) continue;
    Value* flags = field(fn_->getArg(i + 1), offsetof(drawloom_buffer_t, flags));
    Value* old = b_.CreateLoad(m_.i64, flags);
    const bool device = on_device(a->buffer.get());
    if (device) old = b_.CreateAnd(old, b_.getInt64(~uint64_t{drawloom_flag_host_dirty}));
    b_.CreateStore(b_.CreateOr(old, b_.getInt64(device ? drawloom_flag_device_dirty : drawloom_flag_host_dirty)),
                   flags);
  }
}

void FunctionEmitter::default_context() {
  BasicBlock *ask = block("no_context"), *start = block("start");
  branch(b_.CreateIsNull(ctx_), ask, start);
  b_.SetInsertPoint(ask);
  llvm::Function* get = m_.external("drawloom_default_context", llvm::FunctionType::get(m_.ptr, false));
  Value* process_context = b_.CreateCall(get);
  b_.CreateBr(start);
  b_.SetInsertPoint(start);
  llvm::PHINode* chosen = b_.CreatePHI(m_.ptr, 2, "context");
  chosen->addIncoming(ctx_, entry_);
  chosen->addIncoming(process_context, ask);
  ctx_ = chosen;
  start_ = start;
}

auto FunctionEmitter::buffer_spec(const BufferArgument& a) -> llvm::Constant* {
  static_assert(sizeof(drawloom_buffer_check_t) == 32 && offsetof(drawloom_buffer_check_t, written) == 28);
  const drawloom_type_t type = runtime_type(a.buffer->element);
  return m_.constant_struct(
      {m_.constant_text(program_.name), m_.constant_text(a.buffer->name), b_.getInt8(type.code), b_.getInt8(type.bits),
       b_.getInt16(type.lanes), b_.getInt32(static_cast<uint32_t>(a.buffer->rank)), b_.getInt32(0),
       b_.getInt32(a.role == ArgumentRole::Output)},
      "spec");
}

auto FunctionEmitter::param_spec(const Symbol& s) -> llvm::Constant* {
  static_assert(sizeof(drawloom_param_check_t) == 40 && offsetof(drawloom_param_check_t, min) == 24);
  const drawloom_type_t type = runtime_type(s.type);
  const uint32_t bounds = (s.min ? 1u * drawloom_bound_min : 0u) | (s.max ? 1u * drawloom_bound_max : 0u);
  auto bound = [&](const std::optional<int64_t>& v) { return b_.getInt64(bound_value(s.type, v.value_or(0)).u); };
  return m_.constant_struct(
      {m_.constant_text(program_.name), m_.constant_text(s.name), b_.getInt8(type.code), b_.getInt8(type.bits),
       b_.getInt16(type.lanes), b_.getInt32(bounds), bound(s.min), bound(s.max)},
      "param_spec");
}

/// First each buffer alone, then the pairs of which one is written, then the parameters.
void FunctionEmitter::check_arguments() {
  struct Checked {
    Value* buffer;
    llvm::Constant* spec;
    bool written, device;
  };
  std::vector<Checked> buffers;
  for (unsigned i = 0; i < program_.arguments.size(); i++) {
    const auto* a = std::get_if<BufferArgument>(&program_.arguments[i]);
    if (!a) continue;
    const Checked now{fn_->getArg(i + 1), buffer_spec(*a), a->role == ArgumentRole::Output, on_device(a->buffer.get())};
    buffers.push_back(now);
    const std::vector<Value*> args = {ctx_, now.buffer, now.spec};
    leave_if_error(now.device ? device_call(offsetof(drawloom_device_table_t, check_buffer), args)
                              : table_call(offsetof(drawloom_runtime_table_t, check_buffer), m_.i32, args));
  }
  for (size_t i = 0; i < buffers.size(); i++) {
    for (size_t j = i + 1; j < buffers.size(); j++) {
      if (!buffers[i].written && !buffers[j].written) continue;
      const std::vector<Value*> args = {ctx_, buffers[i].buffer, buffers[i].spec, buffers[j].buffer, buffers[j].spec};
      leave_if_error(buffers[i].device && buffers[j].device
                         ? device_call(offsetof(drawloom_device_table_t, check_overlap), args)
                         : table_call(offsetof(drawloom_runtime_table_t, check_overlap), m_.i32, args));
    }
  }
  for (unsigned i = 0; i < program_.arguments.size(); i++) {
    const auto* a = std::get_if<ScalarArgument>(&program_.arguments[i]);
    if (!a || (!a->symbol->min && !a->symbol->max)) continue;
    Value* argument = fn_->getArg(i + 1);
    Value* at = entry_alloca(argument->getType(), 1, 8, "param");
    b_.CreateStore(argument, at);
    leave_if_error(
        table_call(offsetof(drawloom_runtime_table_t, check_param), m_.i32, {ctx_, param_spec(*a->symbol), at}));
  }
}

void FunctionEmitter::load_arguments() {
  for (unsigned i = 0; i < program_.arguments.size(); i++) {
    Value* argument = fn_->getArg(i + 1);
    if (const auto* s = std::get_if<ScalarArgument>(&program_.arguments[i])) {
      argument->setName(s->symbol->name);
      symbols_[s->symbol.get()] = {from_memory(argument, s->symbol->type)};
      continue;
    }
    const BufferDecl& decl = *std::get<BufferArgument>(program_.arguments[i]).buffer;
    argument->setName(decl.name);
    Value* host = load_field(argument, offsetof(drawloom_buffer_t, host), m_.ptr, "host");
    storages_[&decl] = {host, m_.new_storage_tag(decl.name), MemoryKind::Argument};
    Value* dim = load_field(argument, offsetof(drawloom_buffer_t, dim), m_.ptr, "dim");
    for (int d = 0; d < decl.rank; d++) {
      const int64_t at = d * static_cast<int64_t>(sizeof(drawloom_dim_t));
      auto field_of = [&](size_t offset, const char* name) {
        return Binding{load_field(dim, at + static_cast<int64_t>(offset), m_.i64, name)};
      };
      symbols_[decl.min[d].get()] = field_of(offsetof(drawloom_dim_t, min), "min");
      symbols_[decl.extent[d].get()] = field_of(offsetof(drawloom_dim_t, extent), "extent");
      symbols_[decl.stride[d].get()] = field_of(offsetof(drawloom_dim_t, stride), "stride");
    }
  }
}

}  // namespace drawloom::codegen
