#include "drawloom/codegen/llvm/x86/x86.h"

#include "llvm/IR/IntrinsicsX86.h"

namespace drawloom::codegen {

auto x86_cpu(const Target& target) -> std::string {
  return target.level == 1 ? "x86-64" : str("x86-64-v{}", static_cast<int>(target.level));
}

auto x86_features(const Target& target) -> std::string {
  static constexpr std::string_view kNames[] = {
#define FEATURE(name, llvm, ...) llvm,
#include "drawloom/support/target.def"
  };
  std::string out;
  for (int i = 0; i < kCpuFeatureCount; i++) {
    out += target.has(static_cast<CpuFeature>(i)) ? '+' : '-';
    out += kNames[i];
    out += ',';
  }
  // Vectors are as wide as the schedule made them.
  return out + "-prefer-256-bit";
}

static auto has_avx512(const Target& target, int element_bytes) -> bool {
  const auto feature = element_bytes < 4 ? CpuFeature::avx512bw : CpuFeature::avx512f;
  return target.has(feature) && target.has(CpuFeature::avx512vl);
}

auto x86_has_masked_access(const Target& target, int element_bytes) -> bool {
  return has_avx512(target, element_bytes) || (target.has(CpuFeature::avx) && element_bytes >= 4);
}

auto x86_masked_store_is_cheap(const Target& target, int element_bytes) -> bool {
  return has_avx512(target, element_bytes);
}

auto x86_has_gather(const Target& target, int element_bytes) -> bool {
  return element_bytes >= 4 && has_avx512(target, element_bytes);
}

auto x86_nontemporal_align(const Target& target, int bytes) -> int {
  const int widest = target.has(CpuFeature::avx512f) ? 64 : target.has(CpuFeature::avx) ? 32 : 16;
  for (int align = widest; align >= 16; align /= 2) {
    if (bytes % align == 0) return align;
  }
  return 0;
}

void x86_store_fence(llvm::IRBuilder<>& b) { b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}); }

}  // namespace drawloom::codegen
