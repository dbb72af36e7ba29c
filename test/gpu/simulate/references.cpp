/// What the kernels compute, in plain loops.

#include <cmath>

#include "drawloom/ir/build.h"
#include "drawloom/support/hash.h"
#include "kernel_file.h"

namespace drawloom::gpu_tests {
namespace {

/// Calls `f(x, y, z)` for each element of an array of up to three dimensions; stops at the first text it returns.
auto first_text(const Array& a, auto&& f) -> std::string {
  if (is_empty_box(a.dims)) return {};
  auto p = first_point(a.dims);
  do {
    const auto found = f(p);
    if (!found.empty()) return found;
  } while (next_point(a.dims, p));
  return {};
}

auto difference(const char* name, const std::vector<int64_t>& p, double is, double should) -> std::string {
  std::vector<std::string> at;
  for (const int64_t c : p) at.push_back(to_text(c));
  return str("{}({}) is {}, not {}", name, join(at, ", "), is, should);
}

/// The elements, dimension 0 fastest.
auto values_of(const Array& a) -> std::vector<double> {
  std::vector<double> out;
  if (is_empty_box(a.dims)) return out;
  auto p = first_point(a.dims);
  do out.push_back(a.read(a.position(p.data())).f);
  while (next_point(a.dims, p));
  return out;
}

void keep_hashes(SimCall&) {}

// --- matrix products

/// From -1, 0 and 1: every sum is exact whatever the order.
void fill_units(SimCall& call) {
  uint64_t seed = 1;
  for (auto& a : call.arrays) {
    if (is_empty_box(a.dims) || !a.element.is_float()) continue;
    ++seed;
    auto p = first_point(a.dims);
    do {
      const uint64_t h =
          hash_combine(hash_combine(seed, static_cast<uint64_t>(p[0])), p.size() > 1 ? static_cast<uint64_t>(p[1]) : 0);
      a.set(p, float_value(a.element, static_cast<double>(h % 3) - 1));
    } while (next_point(a.dims, p));
  }
}

/// D(j, i) = sum over k of A(k, i) B(k, j).
auto wrong_ring(const SimCall& call) -> std::string {
  const auto& d = call.arrays[2];
  const auto a = values_of(call.arrays[0]), b = values_of(call.arrays[1]);
  const int64_t depth = call.arrays[0].dims[0].extent;
  return first_text(d, [&](const std::vector<int64_t>& p) -> std::string {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += a[static_cast<size_t>(p[1] * depth + k)] * b[static_cast<size_t>(p[0] * depth + k)];
    const double is = d.read(d.position(p.data())).f, should = round_float(d.element, sum);
    return is == should ? std::string() : difference("D", p, is, should);
  });
}

/// T(x, y) = A(y, x).
auto wrong_transpose(const SimCall& call) -> std::string {
  const auto& a = call.arrays[0];
  const auto& t = call.arrays[1];
  return first_text(t, [&](const std::vector<int64_t>& p) -> std::string {
    const double is = t.at(p).f, should = a.at({p[1], p[0]}).f;
    return is == should ? std::string() : difference("T", p, is, should);
  });
}

/// Each row exp(x - max) / sum of these.
auto wrong_softmax_row(const SimCall& call) -> std::string {
  const auto& in = call.arrays[0];
  const auto& out = call.arrays[1];
  const int64_t n = in.dims[0].extent;
  return first_text(out, [&](const std::vector<int64_t>& p) -> std::string {
    double most = -INFINITY, sum = 0;
    for (int64_t x = 0; x < n; ++x) most = std::max(most, in.at({x, p[1]}).f);
    for (int64_t x = 0; x < n; ++x) sum += std::exp(in.at({x, p[1]}).f - most);
    const double is = out.at(p).f, should = std::exp(in.at(p).f - most) / sum;
    return std::fabs(is - should) <= 1e-5 * should + 1e-30 ? std::string() : difference("out", p, is, should);
  });
}

/// V(x, z) = U(x, z - 1) + U(x, z) + U(x, z + 1), zeros outside. The inputs are multiples of 1/16: exact.
auto wrong_window(const SimCall& call) -> std::string {
  const auto& u = call.arrays[0];
  const auto& v = call.arrays[1];
  return first_text(v, [&](const std::vector<int64_t>& p) -> std::string {
    double should = 0;
    for (int64_t z = p[1] - 1; z <= p[1] + 1; ++z) {
      if (z >= 0 && z < u.dims[1].extent) should += u.at({p[0], z}).f;
    }
    const double is = v.at(p).f;
    return is == should ? std::string() : difference("V", p, is, should);
  });
}

/// Each element over the sum of its row, which is exact.
auto wrong_normalised_rows(const SimCall& call) -> std::string {
  const auto& in = call.arrays[0];
  const auto& out = call.arrays[1];
  return first_text(out, [&](const std::vector<int64_t>& p) -> std::string {
    double sum = 0;
    for (int64_t x = 0; x < in.dims[0].extent; ++x) sum += in.at({x, p[1]}).f;
    const double is = out.at(p).f, should = static_cast<float>(in.at(p).f) / static_cast<float>(sum);
    return is == should || std::isnan(should) ? std::string() : difference("Out", p, is, should);
  });
}

/// D(j, i) = sum over k of A(k, i) B(j, k), plus bias(j) and not below 0 where there is a bias.
auto wrong_gemm(const SimCall& call) -> std::string {
  const bool biased = call.arrays.size() == 4;
  const auto& d = call.arrays.back();
  const auto a = values_of(call.arrays[0]), b = values_of(call.arrays[1]);
  const auto bias = biased ? values_of(call.arrays[2]) : std::vector<double>();
  const int64_t depth = call.arrays[0].dims[0].extent, n = d.dims[0].extent;
  return first_text(d, [&](const std::vector<int64_t>& p) -> std::string {
    double sum = biased ? bias[static_cast<size_t>(p[0])] : 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += a[static_cast<size_t>(p[1] * depth + k)] * b[static_cast<size_t>(k * n + p[0])];
    const double is = d.read(d.position(p.data())).f,
                 should = round_float(d.element, biased ? std::max(sum, 0.0) : sum);
    return is == should ? std::string() : difference("D", p, is, should);
  });
}

/// V = center U + side (its six neighbours), zeros outside; the inputs and the coefficients make every sum exact.
auto wrong_stencil7(const SimCall& call) -> std::string {
  const auto& u = call.arrays[0];
  const double center = call.arguments[2].scalar.f, side = call.arguments[3].scalar.f;
  const auto at = [&](int64_t x, int64_t y, int64_t z) {
    const int64_t p[] = {x, y, z};
    return u.contains(p) ? u.read(u.position(p)).f : 0.0;
  };
  const auto& v = call.arrays[1];
  return first_text(v, [&](const std::vector<int64_t>& p) -> std::string {
    const int64_t x = p[0], y = p[1], z = p[2];
    const double sum =
        at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1);
    const double is = v.read(v.position(p.data())).f, should = center * at(x, y, z) + side * sum;
    return is == should ? std::string() : difference("V", p, is, should);
  });
}

constexpr Reference kReferences[] = {{"ring", fill_units, wrong_ring},
                                     {"ring_cluster", fill_units, wrong_ring},
                                     {"transpose", keep_hashes, wrong_transpose},
                                     {"transpose_tma", keep_hashes, wrong_transpose},
                                     {"softmax_row", keep_hashes, wrong_softmax_row},
                                     {"gemm", fill_units, wrong_gemm},
                                     {"gemm_cluster", fill_units, wrong_gemm},
                                     {"gemm_relu_bias", fill_units, wrong_gemm},
                                     {"stencil7", keep_hashes, wrong_stencil7},
                                     {"window", keep_hashes, wrong_window},
                                     {"normalised_rows", keep_hashes, wrong_normalised_rows}};

}  // namespace

auto find_reference(std::string_view name) -> const Reference* {
  for (const auto& r : kReferences) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

}  // namespace drawloom::gpu_tests
