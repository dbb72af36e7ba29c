#include "native.h"

#include <cstring>

#include <memory>

#include "drawloom/driver/jit.h"
#include "drawloom/runtime_testing.h"

#include <sys/mman.h>
#include <unistd.h>

namespace drawloom::fuzz {
namespace {

/// Bytes between two pages that fault, against the one or the other.
class GuardedBytes {
 public:
  GuardedBytes(const std::vector<std::byte>& bytes, bool at_end) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inside_ = (bytes.size() + page - 1) / page * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, inside_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    DRAWLOOM_CHECK(base_ != MAP_FAILED, "no memory for a guarded buffer");
    page_ = page;
    if (inside_ > 0) DRAWLOOM_CHECK(mprotect(base_ + page, inside_, PROT_READ | PROT_WRITE) == 0, "mprotect failed");
    data_ = base_ + page + (at_end ? inside_ - bytes.size() : 0);
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  GuardedBytes(const GuardedBytes&) = delete;
  auto operator=(const GuardedBytes&) -> GuardedBytes& = delete;
  ~GuardedBytes() { munmap(base_, inside_ + 2 * page_); }
  auto data() const -> std::byte* { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  size_t inside_, page_;
};

auto runtime_type(Type t) -> drawloom_type_t {
  return {static_cast<uint8_t>(t.is_float()  ? drawloom_type_float
                               : t.is_uint() ? drawloom_type_uint
                                             : drawloom_type_int),
          t.bits, 1};
}

/// An array as the caller of a pipeline has it.
struct NativeBuffer {
  NativeBuffer(const Array& a, bool at_end) : bytes(a.data, at_end) {
    for (const auto& d : a.dims) dims.push_back({d.min, d.extent, d.stride});
    buffer = {};
    buffer.host = bytes.data() + a.first * a.element.bytes();
    buffer.type = runtime_type(a.element);
    buffer.dimensions = a.rank();
    buffer.dim = dims.data();
  }
  GuardedBytes bytes;
  std::vector<drawloom_dim_t> dims;
  drawloom_buffer_t buffer;
};

/// A scalar argument in memory.
struct NativeScalar {
  explicit NativeScalar(const Value& v) {
    if (v.type == float_type(32)) {
      const auto f = static_cast<float>(v.f);
      std::memcpy(bytes, &f, sizeof f);
    } else if (v.type.is_float()) {
      std::memcpy(bytes, &v.f, sizeof v.f);
    } else {
      std::memcpy(bytes, &v.i, sizeof v.i);  // little-endian: the low bytes come first
    }
  }
  alignas(8) std::byte bytes[8];
};

struct Setting {
  const char* name;
  uint32_t par_for;
  int32_t threads;
  uint8_t poison;
  bool at_end;
};
constexpr Setting kSettings[] = {
    {"in order, poison 0x7f", drawloom_test_serial, 1, 0x7f, true},
    {"in order, poison 0xcc, guards in front", drawloom_test_serial, 1, 0xcc, false},
    {"permuted", drawloom_test_permute, 1, 0x7f, true},
    {"2 threads", drawloom_test_openmp, 2, 0xcc, true},
    {"7 threads", drawloom_test_openmp, 7, 0x7f, false},
};

auto run_once(drawloom_argv_function_t entry, const PipelineDef& p, const Arguments& arguments,
              const OracleOutputs& expected, uint64_t seed, const Setting& s) -> NativeProblem {
  std::vector<std::unique_ptr<NativeBuffer>> inputs, outputs;
  std::vector<NativeScalar> scalars;
  for (const auto& a : arguments.inputs) inputs.push_back(std::make_unique<NativeBuffer>(a, s.at_end));
  for (const auto& v : arguments.params) scalars.emplace_back(v);
  std::vector<Array> results;
  for (size_t i = 0; i < arguments.outputs.size(); ++i) {
    results.push_back(make_strided_array(p.output_buffers[i]->element, arguments.outputs[i]));
    // A bool that is neither 0 nor 1 is no poison but an error.
    const auto poison = std::byte{p.output_buffers[i]->element.is_bool() ? uint8_t{1} : s.poison};
    std::fill(results.back().data.begin(), results.back().data.end(), poison);
    outputs.push_back(std::make_unique<NativeBuffer>(results.back(), s.at_end));
  }
  std::vector<void*> args;
  for (auto& b : inputs) args.push_back(&b->buffer);
  for (auto& v : scalars) args.push_back(v.bytes);
  for (auto& b : outputs) args.push_back(&b->buffer);

  drawloom_test_options_t options = {};
  options.par_for = s.par_for, options.num_threads = s.threads, options.poison = s.poison, options.seed = seed;
  options.allocator = s.at_end ? drawloom_test_guard_end : drawloom_test_guard_start;
  drawloom_context_t* ctx = drawloom_test_context_create(&options);
  DRAWLOOM_CHECK(ctx != nullptr, "no context");
  const int code = entry(ctx, args.data());
  char message[drawloom_message_bytes] = "";
  drawloom_last_error(ctx, message, sizeof message);
  const auto seen = drawloom_test_report(ctx);
  drawloom_test_context_destroy(ctx);

  const auto problem = [&](std::string kind, const std::string& details) {
    return NativeProblem{"native: " + std::move(kind), str("{}: {}", s.name, details)};
  };
  if (code != 0) return problem(drawloom_error_name(code), message);
  if (seen.live_blocks != 0) return problem("leak", str("{} blocks", seen.live_blocks));
  if (seen.damaged_blocks != 0 || seen.wrong_frees != 0)
    return problem("memory damaged", str("{} blocks, {} wrong frees", seen.damaged_blocks, seen.wrong_frees));
  for (size_t i = 0; i < results.size(); ++i) {
    auto& r = results[i];
    const auto before = r.data;
    if (!r.data.empty()) std::memcpy(r.data.data(), outputs[i]->bytes.data(), r.data.size());
    const auto what = difference(expected.arrays[i], r, p.output_buffers[i]->name);
    if (!what.empty()) return problem("wrong value", what);
    // What the strides skip is the caller's.
    auto rest = make_strided_array(r.element, r.dims);
    if (!is_empty_box(r.dims)) {
      auto at = first_point(r.dims);
      do {
        const int64_t position = r.position(at.data());
        std::memset(rest.data.data() + position * r.element.bytes(), 1, static_cast<size_t>(r.element.bytes()));
      } while (next_point(r.dims, at));
    }
    for (size_t b = 0; b < rest.data.size(); ++b)
      if (rest.data[b] == std::byte{0} && r.data[b] != before[b])
        return problem("write between elements", str("byte {} of {}", b, p.output_buffers[i]->name));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!arguments.inputs[i].data.empty() &&
        std::memcmp(inputs[i]->bytes.data(), arguments.inputs[i].data.data(), arguments.inputs[i].data.size()) != 0)
      return problem("input changed", p.inputs[i]->name);
  return {};
}

}  // namespace

auto run_native(const Program& program, const PipelineDef& pipeline, const Arguments& arguments,
                const OracleOutputs& expected, const Sizes& sizes, Coverage* coverage) -> NativeProblem {
  const auto module = jit_compile({program}, host_target());
  // limits of the target too: what `apply` accepts must have code
  if (!module.ok()) return {str("native: {}", module.diag().name()), module.diag().text()};
  const auto entry = (*module)->argv(program.name);
  DRAWLOOM_CHECK(entry != nullptr, "no entry {}", program.name);
  for (const auto& s : kSettings) {
    if (coverage) ++coverage->native_runs;
    auto problem = run_once(entry, pipeline, arguments, expected, sizes.parallel_seed, s);
    if (!problem.kind.empty()) return problem;
  }
  return {};
}

}  // namespace drawloom::fuzz
