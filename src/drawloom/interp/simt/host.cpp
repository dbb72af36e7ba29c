// The host's side: a walk over the statements around the launches, which evaluates each expression where it stands.
//
// Arguments get addresses far apart in one address space, so that a pointer that strays out of one hits nothing. A
// tensor map is checked as the driver would check it, when it is made, and a launch is compiled anew each time it is
// reached: loop variables and lets of the host are constants in it.
#include "drawloom/interp/simt/host.h"

#include "drawloom/interp/simt/device.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/text_form.h"

namespace drawloom {
namespace simt {

auto Host::bind(const std::vector<SimArgument>& arguments) -> Status {
  const auto wrong = [&](const std::string& which, const std::string& what) {
    return Diag(DiagKind::machine_argument, {}, which, program_.name, what);
  };
  if (arguments.size() != program_.arguments.size()) {
    return wrong("list", str("{} given, {} wanted", arguments.size(), program_.arguments.size()));
  }
  // Beyond 32 bits: an address that was cut to an int hits nothing either.
  uint64_t next = 0x7000'0000'0000;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& given = arguments[i];
    if (const auto* scalar = std::get_if<ScalarArgument>(&program_.arguments[i])) {
      const auto& s = *scalar->symbol;
      if (given.scalar.type != s.type) return wrong(s.name, str("a {}, not {}", given.scalar.type, s.type));
      names_.values[&s] = given.scalar;
      continue;
    }
    const auto& argument = std::get<BufferArgument>(program_.arguments[i]);
    const auto& buffer = *argument.buffer;
    if (!given.array) return wrong(buffer.name, "no array");
    const Array& a = *given.array;
    if (a.element != buffer.element)
      return wrong(buffer.name, str("elements are {}, not {}", a.element, buffer.element));
    if (a.rank() != buffer.rank) return wrong(buffer.name, str("rank {}, not {}", a.rank(), buffer.rank));
    for (size_t d = 0; d < a.dims.size(); ++d) {
      names_.values[buffer.min[d].get()] = int_value(kIndex, a.dims[d].min);
      names_.values[buffer.extent[d].get()] = int_value(kIndex, a.dims[d].extent);
      names_.values[buffer.stride[d].get()] = int_value(kIndex, a.dims[d].stride);
    }
    names_.arguments[&buffer] = static_cast<int>(world_.regions.size());
    const bool input = argument.role == ArgumentRole::Input;
    // A view that does not begin at a multiple of 4 bytes is recorded by single bytes.
    const int granule = std::min(a.element.bytes(), 4) / (given.misaligned_bytes % 4 == 0 ? 1 : a.element.bytes());
    world_.regions.push_back({.buffer = &buffer,
                              .array = given.array,
                              .base = next + static_cast<uint64_t>(given.misaligned_bytes),
                              .writable = !input,
                              .shadow = Shadow(a.data.size(), std::max(granule, 1), input)});
    // Far enough apart that no stray subscript lands in another argument.
    next += (a.data.size() / 0x1000'0000 + 2) * 0x1000'0000;
  }
  return Done{};
}

auto Host::run() -> Result<SimReport> {
  statement(program_.body);
  if (problem_) return *problem_;
  return std::move(world_.report);
}

auto Host::fail(const Node& n, std::string_view what) -> Value {
  if (!problem_) problem_ = Diag(DiagKind::ir_malformed, n.loc, described(n), what);
  return {};
}

void Host::statement(const Stmt& s) {
  if (!s || !going()) return;
  dispatch(*s.get(), [&](const auto& n) {
    if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) this->execute(n);
  });
}

template <typename T>
void Host::execute(const T& n) {
  fail(n, "the simulator runs lets, ifs, loops, checks, tensor maps and launches of the host");
}
void Host::execute(const Block& n) {
  for (const auto& s : n.stmts) statement(s);
}
void Host::execute(const Stage& n) { statement(n.body); }
void Host::execute(const For& n) {
  const int64_t min = expr(n.min).i, extent = expr(n.extent).i;
  for (int64_t i = 0; i < extent && going(); ++i) {
    names_.values[n.symbol.get()] = int_value(kIndex, min + i);
    statement(n.body);
  }
}
void Host::execute(const If& n) { statement(expr(n.condition).i != 0 ? n.then : n.otherwise); }
void Host::execute(const LetStmt& n) {
  names_.values[n.symbol.get()] = expr(n.value);
  statement(n.body);
}
void Host::execute(const Check& n) {
  if (expr(n.condition).i != 0) return;
  std::vector<std::string> args;
  for (const auto& a : n.args) args.push_back(expr(a).text());
  world_.report.check_failure = {.code = n.code, .message = format_pieces(n.message, args.data(), args.size())};
}

/// Where an element of an argument lies; by one subscript, so many elements from the first.
auto Host::address(const BufferDecl& buffer, const ExprList& index) -> uint64_t {
  const auto& r = world_.regions[static_cast<size_t>(names_.arguments.at(&buffer))];
  int64_t position = r.array->first;
  if (program_.flat_storage) {
    position += expr(index[0]).i;
  } else {
    for (size_t d = 0; d < index.size(); ++d)
      position += (expr(index[d]).i - r.array->dims[d].min) * r.array->dims[d].stride;
  }
  return r.address(position);
}

auto Host::map_value(const TensorMap& n) -> MapValue {
  MapValue m{.name = n.symbol->name, .region = names_.arguments.at(n.buffer.get())};
  m.element = n.buffer->element, m.element_bytes = m.element.bytes();
  m.rank = static_cast<int>(n.dims.size()), m.swizzle = n.swizzle, m.fill = n.fill;
  m.base = address(*n.buffer, n.base);
  for (size_t d = 0; d < n.dims.size(); ++d) {
    m.dims[d] = expr(n.dims[d]).i;
    m.box[d] = expr(n.box[d]).i;
    m.strides[d] = d == 0 ? m.element_bytes : expr(n.strides[d - 1]).i * m.element_bytes;
  }
  return m;
}

/// What the driver refuses.
auto Host::map_problem(const MapValue& m) const -> std::string {
  if (m.base % 16 != 0) return str("its base is not aligned to 16 bytes but {}", m.base & (0 - m.base));
  const int64_t inner = m.box[0] * m.element_bytes;
  if (inner % 16 != 0) return str("a row of its box has {} bytes, no multiple of 16", inner);
  if (m.swizzle != 0 && inner > m.swizzle)
    return str("a row of its box has {} bytes, more than its swizzle of {}", inner, m.swizzle);
  for (int d = 0; d < m.rank; ++d) {
    if (m.dims[d] < 1 || m.dims[d] > int64_t{1} << 32) return str("dimension {} has {} elements", d, m.dims[d]);
    if (m.box[d] < 1 || m.box[d] > 256) return str("its box has {} elements in dimension {}", m.box[d], d);
    if (d == 0) continue;
    if (m.strides[d] % 16 != 0)
      return str("the stride of dimension {} is {} bytes, no multiple of 16", d, m.strides[d]);
    if (m.strides[d] < 0 || m.strides[d] >= int64_t{1} << 40)
      return str("the stride of dimension {} is {} bytes", d, m.strides[d]);
  }
  return {};
}

void Host::execute(const TensorMap& n) {
  MapValue m = map_value(n);
  if (!going()) return;
  if (const auto problem = map_problem(m); !problem.empty()) {
    return world_.report_error(Diag(DiagKind::device_protocol, n.loc, str("tensor map `{}`", m.name), problem), true);
  }
  world_.maps[n.symbol.get()] = std::move(m);
  statement(n.body);
}

void Host::execute(const Launch& n) {
  auto code = compile_launch(n, names_);
  if (!code.ok()) {
    problem_ = code.diag();
    return;
  }
  int64_t grid[3] = {1, 1, 1};
  const auto& blocks = code->shape.blocks;
  for (size_t d = 0; d < blocks.size(); ++d) grid[blocks.size() - 1 - d] = expr(blocks[d]->extent).i;
  if (!going()) return;
  if (grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0) return;
  ++world_.report.launches;
  Device(world_, *code, grid).run();
}

// --- expressions

auto Host::expr(const Expr& e) -> Value {
  if (problem_) return {};
  return dispatch(*e.get(), [&](const auto& n) -> Value {
    if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return this->evaluate(n);
    return {};
  });
}
template <typename T>
auto Host::evaluate(const T& n) -> Value {
  return fail(n, "the host does not compute this");
}
auto Host::evaluate(const IntImm& n) -> Value { return int_value(n.type, n.value); }
auto Host::evaluate(const FloatImm& n) -> Value { return {.type = n.type, .f = n.value}; }
auto Host::evaluate(const VarRef& n) -> Value {
  const auto found = names_.values.find(n.symbol.get());
  return found != names_.values.end() ? found->second : fail(n, "it has no value here");
}
auto Host::evaluate(const Cast& n) -> Value {
  bool open = false;
  return eval_cast(n.type, expr(n.value), open);
}
auto Host::evaluate(const Reinterpret& n) -> Value { return value_of_bits(n.type, bits_of(expr(n.value))); }
auto Host::evaluate(const Unary& n) -> Value { return eval_unary(n.op, expr(n.a)); }
auto Host::evaluate(const Binary& n) -> Value {
  bool open = false;
  return eval_binary(n.op, expr(n.a), expr(n.b), open);
}
auto Host::evaluate(const Select& n) -> Value { return expr(expr(n.condition).i != 0 ? n.yes : n.no); }
auto Host::evaluate(const Call& n) -> Value {
  Value args[3];
  for (size_t k = 0; k < n.args.size(); ++k) args[k] = expr(n.args[k]);
  return n.function == Intrinsic::WarpUniform ? args[0] : eval_call(n.function, args);
}
auto Host::evaluate(const Address& n) -> Value {
  if (!names_.arguments.contains(n.buffer.get())) return fail(n, "the host knows the places of arguments alone");
  return int_value(n.type, static_cast<int64_t>(address(*n.buffer, n.index)));
}
auto Host::evaluate(const Let& n) -> Value {
  names_.values[n.symbol.get()] = expr(n.value);
  return expr(n.body);
}

}  // namespace simt

auto simulate(const Program& program, const std::vector<SimArgument>& arguments, const SimOptions& options)
    -> Result<SimReport> {
  simt::Host host(program, options);
  DRAWLOOM_REQUIRE(host.bind(arguments));
  return host.run();
}

}  // namespace drawloom
