// What code generation does not take, found by one walk over each program.
//
// Stack storage is summed for each function that will be emitted: the program's own, and one for the body of each
// parallel loop (a task). Allocates of one function add up even where they stand side by side, because all of them are
// taken on entry. Example: parallel y { allocate a 600 KB; .. allocate b 600 KB } is beyond 1 MB in the task, and
// nothing in the program.
#include "drawloom/codegen/limits.h"

#include <unordered_map>
#include <unordered_set>

#include "drawloom/codegen/kernel.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

/// Names that generated objects refer to: a pipeline of such a name would take the place of the real one.
constexpr std::string_view kTakenNames[] = {
    "ceil", "ceilf",    "cos",     "cosf",   "exp",   "expf",   "floor",     "floorf",     "log",
    "logf", "memcpy",   "memmove", "memset", "pow",   "powf",   "roundeven", "roundevenf", "sin",
    "sinf", "snprintf", "sqrt",    "sqrtf",  "trunc", "truncf", "main"};

auto is_identifier(std::string_view name) -> bool {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name[0])) return false;
  for (char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

auto has_code(Type t) -> bool {
  switch (t.code) {
    case TypeCode::Int: return t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    case TypeCode::UInt: return t.bits == 1 || t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    case TypeCode::Float: return t.bits == 32 || t.bits == 64;
    case TypeCode::BFloat: return false;
    case TypeCode::Index: return t.bits == 64;
  }
  return false;
}

class Finder {
 public:
  explicit Finder(const Target& target) : target_(target) {}
  std::vector<Diag> found;

  void check_name(const Program& p) {
    auto refuse = [&](std::string_view why) { found.emplace_back(DiagKind::codegen_name, Loc(), p.name, why); };
    if (!is_identifier(p.name)) return refuse("it is not a C identifier");
    if (p.name.starts_with("drawloom_")) return refuse("names that begin with drawloom_ belong to the runtime");
    for (std::string_view taken : kTakenNames) {
      if (p.name == taken) return refuse("it is a name of the C library");
    }
    if (!names_.insert(p.name).second || !names_.insert(p.name + "_argv").second) return refuse("it is there twice");
  }

  void check(const Program& p) {
    check_name(p);
    if (!p.flat_storage) {
      found.push_back(Diag(DiagKind::codegen_subscript, {}, p.name, "does not say flat_storage, which code is made for")
                          .with_help("run flatten_storage first"));
    }
    for (const Argument& a : p.arguments) {
      const auto* b = std::get_if<BufferArgument>(&a);
      if (b && is_on_device(p, *b->buffer)) device_buffers_.insert(b->buffer.get());
      if (b && !device_buffers_.contains(b->buffer.get())) check_element(*b->buffer);
      if (const auto* s = std::get_if<ScalarArgument>(&a)) check_type(s->symbol->type, s->symbol->loc, s->symbol->name);
    }
    if (!p.body) return;
    walk(*p.body.get(), 0, p.name);
  }

 private:
  static auto is_on_device(const Program& p, const BufferDecl& b) -> bool {
    const DeviceUse use = device_use(p.body, &b);
    return use.read || use.written;
  }

  const Target& target_;
  std::unordered_set<std::string> names_;
  std::unordered_set<const Node*> seen_;
  std::unordered_set<const BufferDecl*> device_buffers_;
  std::unordered_map<const BufferDecl*, int> register_task_;
  int64_t stack_bytes_ = 0;  ///< of the function or task being walked
  int tasks_ = 0;

  /// Shared statements are walked once. `task`: number of the enclosing outlined function.
  void walk(const Node& node, int task, const std::string& task_name) {
    if (!seen_.insert(&node).second) return;
    check_node(node, task);
    if (node.kind == Kind::Launch) return;  // device code has limits of its own (ptx.h)
    const auto* loop = node.kind == Kind::For ? static_cast<const For*>(&node) : nullptr;
    if (!loop || loop->how != ForKind::Parallel) {
      each_child(node, [&](const auto& child) { walk(*child.get(), task, task_name); });
      check_stack(node, task_name);
      return;
    }
    walk(*loop->min.get(), task, task_name);
    walk(*loop->extent.get(), task, task_name);
    // A task runs on the stack of the thread that takes it.
    const int64_t outer_bytes = std::exchange(stack_bytes_, 0);
    walk(*loop->body.get(), ++tasks_, str("parallel {}", loop->symbol->name));
    stack_bytes_ = outer_bytes;
  }

  void check_node(const Node& node, int task) {
    switch (node.kind) {
      case Kind::IntImm:
      case Kind::FloatImm:
      case Kind::VarRef:
      case Kind::Cast:
      case Kind::Reinterpret:
      case Kind::Unary:
      case Kind::Binary:
      case Kind::Select:
      case Kind::Ramp:
      case Kind::Broadcast:
      case Kind::Let: return check_type(static_cast<const ExprNode&>(node).type, node.loc, kind_name(node.kind));
      case Kind::Call: return check_call(static_cast<const Call&>(node));
      case Kind::Address: {
        // On the host only of what launches use: its place in device memory.
        const auto& n = static_cast<const Address&>(node);
        if (!device_buffers_.contains(n.buffer.get()))
          found.emplace_back(DiagKind::codegen_node, node.loc, kind_name(node.kind));
        return check_register(*n.buffer, n.loc, task);
      }
      case Kind::Launch:
      case Kind::TensorMap:
        if (task != 0) found.emplace_back(DiagKind::codegen_node, node.loc, "a launch inside a parallel loop");
        return;
      case Kind::RoleSwitch:
      case Kind::Role:
      case Kind::Elect:
      case Kind::Sync:
      case Kind::Init:
      case Kind::Arrive:
      case Kind::Expect:
      case Kind::Wait:
      case Kind::Fence:
      case Kind::Issue:
      case Kind::Commit:
      case Kind::WaitGroup:
      case Kind::SetRegisters:
      case Kind::Access: found.emplace_back(DiagKind::codegen_node, node.loc, kind_name(node.kind)); return;
      case Kind::Load: {
        const auto& n = static_cast<const Load&>(node);
        check_type(n.type, n.loc, n.buffer->name);
        check_side(*n.buffer, n.loc);
        return check_register(*n.buffer, n.loc, task);
      }
      case Kind::Store: {
        const auto& n = static_cast<const Store&>(node);
        check_side(*n.buffer, n.loc);
        return check_register(*n.buffer, n.loc, task);
      }
      case Kind::For: return check_loop(static_cast<const For&>(node));
      case Kind::Allocate: return check_allocate(static_cast<const Allocate&>(node), task);
      case Kind::Check: {
        const auto& n = static_cast<const Check&>(node);
        if (error_code(n.code) == 0) found.emplace_back(DiagKind::codegen_error_code, n.loc, n.code);
        return;
      }
      case Kind::Block:
      case Kind::If:
      case Kind::LetStmt:
      case Kind::Stage:
      case Kind::StoreFence: return;
    }
  }

  void check_type(Type t, const Loc& loc, std::string_view what) {
    if (!has_code(t)) found.emplace_back(DiagKind::codegen_type, loc, what, t.element());
    if (t.lanes < 1 || t.lanes > kMaxLanes) found.emplace_back(DiagKind::codegen_lanes, loc, t.lanes, kMaxLanes);
  }

  void check_element(const BufferDecl& b) {
    if (!has_code(b.element) || b.element.is_index())
      found.emplace_back(DiagKind::codegen_type, b.loc, b.name, b.element);
  }

  void check_call(const Call& n) {
    check_type(n.type, n.loc, op_text(n.function));
    if (n.function == Intrinsic::Fma && !target_.has_fma()) found.emplace_back(DiagKind::codegen_fma, n.loc, target_);
  }

  /// The data of an argument are on one side for the whole call.
  void check_side(const BufferDecl& b, const Loc& loc) {
    if (!device_buffers_.contains(&b)) return;
    found.push_back(Diag(DiagKind::codegen_subscript, loc, b.name,
                         "is used by launches, whose data are on the device, and by the host")
                        .with_help("let a kernel do it, or a program of its own"));
  }

  void check_register(const BufferDecl& b, const Loc& loc, int task) {
    if (b.memory != MemoryKind::Register) return;
    const auto home = register_task_.find(&b);
    if (home != register_task_.end() && home->second != task) {
      found.emplace_back(DiagKind::codegen_register, loc, b.name, "registers do not reach into a parallel loop");
    }
  }

  void check_loop(const For& n) {
    if (n.how == ForKind::Vectorized) found.emplace_back(DiagKind::codegen_loop, n.loc, n.symbol->name, "vectorized");
    if (n.how == ForKind::Block) found.emplace_back(DiagKind::codegen_loop, n.loc, n.symbol->name, "block");
    if (n.how == ForKind::Thread) found.emplace_back(DiagKind::codegen_loop, n.loc, n.symbol->name, "thread");
    if (n.how == ForKind::Unrolled) found.emplace_back(DiagKind::codegen_loop, n.loc, n.symbol->name, "unrolled");
  }

  void check_allocate(const Allocate& n, int task) {
    check_element(*n.buffer);
    if (n.buffer->memory == MemoryKind::Register) register_task_[n.buffer.get()] = task;
    if (n.buffer->memory == MemoryKind::Heap) return;
    int64_t elements = 1;
    for (const Expr& e : n.extents) {
      int64_t extent = 0;
      DRAWLOOM_CHECK(as_int(e, extent), "codegen: extent of {} is no constant", n.buffer->name);
      // Beyond the limit the exact number does not count; this keeps the product small.
      elements = std::min(elements * std::min(std::max<int64_t>(extent, 0), kMaxStackBytes + 1), kMaxStackBytes + 1);
    }
    stack_bytes_ += elements * n.buffer->element.bytes();
  }

  void check_stack(const Node& node, const std::string& task_name) {
    if (node.kind != Kind::Allocate || stack_bytes_ <= kMaxStackBytes) return;
    found.emplace_back(DiagKind::codegen_stack, node.loc, task_name, stack_bytes_, kMaxStackBytes);
    // Told once for each function, not again for every Allocate around it.
    stack_bytes_ = 0;
  }
};

}  // namespace

auto error_code(std::string_view name) -> int {
#define DRAWLOOM_ERROR(number, code_name, text) \
  if (name == #code_name) return number;
#include "drawloom/error_codes.def"
#undef DRAWLOOM_ERROR
  return 0;
}

auto find_unsupported(const std::vector<Program>& programs, const Target& target) -> std::vector<Diag> {
  Finder finder(target);
  for (const Program& p : programs) finder.check(p);
  return std::move(finder.found);
}

}  // namespace drawloom
