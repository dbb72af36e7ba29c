/// The host's side of devices: tensor maps and launches as the structs of the runtime's device.h, and where the data of
/// arguments is.

#include "drawloom/codegen/kernel.h"
#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/device.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/verify_device.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {
namespace {

static_assert(sizeof(drawloom_kernels_t) == 48 && offsetof(drawloom_kernels_t, loaded) == 40);
static_assert(sizeof(drawloom_tensor_map_t) % 8 == 0);

auto struct_of(llvm::LLVMContext& context, const std::vector<llvm::Constant*>& fields) -> llvm::Constant* {
  return llvm::ConstantStruct::getAnon(context, fields);
}

}  // namespace

/// The static description of this module's device code, once.
auto ModuleEmitter::kernels() -> llvm::Constant* {
  if (kernels_) return kernels_;
  DRAWLOOM_CHECK(device, "codegen: a launch without device code");
  llvm::IRBuilder<> b(context);
  auto* null = llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  const auto blob = [&](const std::string& bytes) -> llvm::Constant* {
    return bytes.empty() ? static_cast<llvm::Constant*>(null) : constant_text(bytes);
  };
  llvm::Constant* data =
      struct_of(context, {constant_text(device->name), blob(device->cubin), b.getInt64(device->cubin.size()),
                          blob(device->ptx), b.getInt32(static_cast<uint32_t>(device->target.capability)),
                          b.getInt32(device->target.accelerated ? drawloom_kernels_exact : 0), null});
  auto* global =
      new llvm::GlobalVariable(module, data->getType(), false, llvm::GlobalValue::PrivateLinkage, data, "kernels");
  global->setAlignment(llvm::Align(8));
  return kernels_ = global;
}

/// Where a program with launches begins: the runtime's device table, or the error that there is none.
void FunctionEmitter::find_device() {
  device_table_ = load_field(ctx_table(), offsetof(drawloom_runtime_table_t, device), m_.ptr, "device");
  BasicBlock *have = block("device"), *none = block("no_device");
  branch_likely(b_.CreateIsNotNull(device_table_), have, none);
  b_.SetInsertPoint(none);
  Value* zero = b_.getInt64(0);
  leave(table_call(offsetof(drawloom_runtime_table_t, fail), m_.i32,
                   {ctx_, b_.getInt32(drawloom_error_no_device), site("device", {}), zero, zero, zero, zero}));
  b_.SetInsertPoint(have);
}

auto FunctionEmitter::device_call(int64_t offset, llvm::ArrayRef<Value*> args) -> llvm::CallInst* {
  std::vector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType());
  Value* callee = load_field(device_table_, offset, m_.ptr, "service");
  llvm::CallInst* call = b_.CreateCall(llvm::FunctionType::get(m_.i32, types, false), callee, args);
  call->setDoesNotThrow();
  return call;
}

/// Of an element of an argument that launches use.
auto FunctionEmitter::device_address(const Address& n) -> Value* {
  Value* bytes = b_.getInt64(static_cast<uint64_t>(n.buffer->element.bytes()));
  return b_.CreateAdd(device_addresses_.at(n.buffer.get()), b_.CreateMul(value(n.index[0]), bytes));
}

/// Inputs are brought to the device where the host's copy is newer; outputs get room there.
void FunctionEmitter::place_arguments() {
  for (unsigned i = 0; i < program_.arguments.size(); i++) {
    const auto* a = std::get_if<BufferArgument>(&program_.arguments[i]);
    if (!a || !on_device(a->buffer.get())) continue;
    const bool output = a->role == ArgumentRole::Output;
    const int64_t service =
        output ? offsetof(drawloom_device_table_t, buffer_malloc) : offsetof(drawloom_device_table_t, to_device);
    Value* buffer = fn_->getArg(i + 1);
    leave_if_error(device_call(service, {ctx_, buffer, site(a->buffer->name, a->buffer->loc)}));
    device_addresses_[a->buffer.get()] =
        load_field(buffer, offsetof(drawloom_buffer_t, device), m_.i64, "device_address");
  }
}

auto FunctionEmitter::on_device(const BufferDecl* b) const -> bool {
  const DeviceUse use = device_use(program_.body, b);
  return use.read || use.written;
}

void FunctionEmitter::store_at(Value* base, int64_t bytes, Value* v) {
  b_.CreateAlignedStore(v, field(base, bytes), llvm::Align(4));
}

void FunctionEmitter::emit_tensor_map(const TensorMap& n) {
  using Map = drawloom_tensor_map_t;
  forget();
  Value* map = entry_alloca(m_.i8, sizeof(Map), 8, "tensor_map");
  b_.CreateMemSet(map, b_.getInt8(0), sizeof(Map), llvm::Align(8));
  const int bytes = n.buffer->element.bytes();
  Value* element = b_.getInt64(static_cast<uint64_t>(bytes));
  store_at(map, offsetof(Map, name), m_.constant_text(n.buffer->name));
  DRAWLOOM_CHECK(n.base.size() == 1, "codegen: the base of a tensor map has {} subscripts", n.base.size());
  Value* offset = b_.CreateMul(value(n.base[0]), element);
  store_at(map, offsetof(Map, address), b_.CreateAdd(device_addresses_.at(n.buffer.get()), offset));
  const drawloom_type_t type = runtime_type(n.buffer->element);
  store_at(map, offsetof(Map, type), b_.getInt8(type.code));
  store_at(map, offsetof(Map, type) + 1, b_.getInt8(type.bits));
  store_at(map, offsetof(Map, type) + 2, b_.getInt16(1));
  store_at(map, offsetof(Map, rank), b_.getInt32(static_cast<uint32_t>(n.dims.size())));
  for (size_t d = 0; d < n.dims.size(); ++d) {
    const auto at = [&](size_t array, size_t size) { return static_cast<int64_t>(array + d * size); };
    store_at(map, at(offsetof(Map, extent), 8), value(n.dims[d]));
    store_at(map, at(offsetof(Map, stride), 8), d == 0 ? element : b_.CreateMul(value(n.strides[d - 1]), element));
    store_at(map, at(offsetof(Map, box), 4), b_.CreateTrunc(value(n.box[d]), m_.i32));
    store_at(map, at(offsetof(Map, element_step), 4), b_.getInt32(1));
  }
  store_at(map, offsetof(Map, swizzle), b_.getInt32(static_cast<uint32_t>(n.swizzle)));
  store_at(map, offsetof(Map, l2_promotion), b_.getInt32(static_cast<uint32_t>(n.promotion)));
  store_at(map, offsetof(Map, fill),
           b_.getInt32(n.fill == TensorFill::Nan ? drawloom_tensor_fill_nan : drawloom_tensor_fill_zero));
  tensor_maps_[n.symbol.get()] = map;
  emit(n.body);
}

/// Fails where the kernel's 32 bits do not suffice: a buffer that spans more elements, or a number beyond them.
void FunctionEmitter::check_index_range(const Launch& n, const std::vector<KernelParam>& params) {
  const auto require = [&](Value* good, std::string_view what, Value* amount) {
    BasicBlock *yes = block("narrow"), *no = block("too_wide");
    branch_likely(good, yes, no);
    b_.SetInsertPoint(no);
    Value* zero = b_.getInt64(0);
    leave(table_call(offsetof(drawloom_runtime_table_t, fail), m_.i32,
                     {ctx_, b_.getInt32(drawloom_error_index_too_large), site(what, n.loc), amount, zero, zero, zero}));
    b_.SetInsertPoint(yes);
  };
  Value* limit = b_.getInt64(uint64_t{1} << 31);
  for (const auto& p : params) {
    if (p.symbol && p.symbol->type.is_index()) {
      Value* v = symbol(p.symbol.get()).value;
      require(b_.CreateICmpULT(b_.CreateAdd(v, limit), b_.CreateShl(limit, 1)), p.symbol->name, v);
    }
    if (!p.buffer) continue;
    Value* span = b_.getInt64(0);
    for (size_t d = 0; d < p.buffer->extent.size(); ++d) {
      Value* last = b_.CreateSub(symbol(p.buffer->extent[d].get()).value, b_.getInt64(1));
      Value* step =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, symbol(p.buffer->stride[d].get()).value, b_.getFalse());
      span = b_.CreateAdd(span, b_.CreateMul(last, step));
    }
    require(b_.CreateICmpSLT(span, limit), p.buffer->name, span);
  }
}

/// The addresses of the kernel's parameters; tensor maps are put in by the runtime.
auto FunctionEmitter::launch_params(const std::vector<KernelParam>& params, Value* maps) -> Value* {
  Value* list = entry_alloca(m_.ptr, std::max<int64_t>(static_cast<int64_t>(params.size()), 1), 8, "params");
  int64_t next_map = 0;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto& p = params[i];
    if (p.is_map()) {
      Value* at = field(maps, next_map++ * static_cast<int64_t>(sizeof(drawloom_tensor_map_t)));
      b_.CreateMemCpy(at, llvm::Align(8), tensor_maps_.at(p.symbol.get()), llvm::Align(8),
                      sizeof(drawloom_tensor_map_t));
      store_at(at, offsetof(drawloom_tensor_map_t, param), b_.getInt32(static_cast<uint32_t>(i)));
      continue;
    }
    Value* v = p.buffer ? device_addresses_.at(p.buffer.get()) : symbol(p.symbol.get()).value;
    if (p.symbol && p.symbol->type.is_index()) v = b_.CreateTrunc(v, m_.i32);
    if (p.symbol && p.symbol->type.is_bool()) v = b_.CreateZExt(v, m_.i8);
    Value* slot = entry_alloca(v->getType(), 1, 8, "param");
    b_.CreateStore(v, slot);
    b_.CreateStore(slot, field(list, static_cast<int64_t>(i * sizeof(void*))));
  }
  return list;
}

void FunctionEmitter::emit_launch(const Launch& n) {
  using L = drawloom_launch_t;
  forget();
  const auto shape = launch_shape(n);
  const auto params = kernel_params(n);
  check_index_range(n, params);
  const auto map_count = std::count_if(params.begin(), params.end(), [](const KernelParam& p) { return p.is_map(); });
  Value* maps = entry_alloca(
      m_.i8, std::max<int64_t>(map_count, 1) * static_cast<int64_t>(sizeof(drawloom_tensor_map_t)), 8, "maps");
  Value* list = launch_params(params, maps);
  Value* launch = entry_alloca(m_.i8, sizeof(L), 8, "launch");
  b_.CreateMemSet(launch, b_.getInt8(0), sizeof(L), llvm::Align(8));
  store_at(launch, offsetof(L, kernels), m_.kernels());
  store_at(launch, offsetof(L, kernel), m_.constant_text(n.name));
  if (n.loc.known()) store_at(launch, offsetof(L, loc), m_.constant_text(str("{}:{}", n.loc.file(), n.loc.line())));
  const int cluster[3] = {n.cluster_x, n.cluster_y, n.cluster_z};
  for (size_t d = 0; d < 3; ++d) {
    const auto& blocks = shape->blocks;
    Value* extent = d < blocks.size() ? value(blocks[blocks.size() - 1 - d]->extent) : b_.getInt64(1);
    store_at(launch, static_cast<int64_t>(offsetof(L, grid) + d * 8),
             b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, b_.getInt64(0)));
    store_at(launch, static_cast<int64_t>(offsetof(L, cluster) + d * 4),
             b_.getInt32(static_cast<uint32_t>(cluster[d])));
  }
  store_at(launch, offsetof(L, threads), b_.getInt32(static_cast<uint32_t>(launch_threads(*shape->threads))));
  store_at(launch, offsetof(L, shared_bytes), b_.getInt64(static_cast<uint64_t>(n.shared_bytes)));
  store_at(launch, offsetof(L, params), b_.getInt32(static_cast<uint32_t>(params.size())));
  store_at(launch, offsetof(L, tensor_maps), b_.getInt32(static_cast<uint32_t>(map_count)));
  store_at(launch, offsetof(L, param), list);
  store_at(launch, offsetof(L, tensor_map), maps);
  leave_if_error(device_call(offsetof(drawloom_device_table_t, launch), {ctx_, launch}));
  forget();
}

}  // namespace drawloom::codegen
