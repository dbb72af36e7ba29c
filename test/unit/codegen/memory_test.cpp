/// Loads and stores by shape of subscript and mask, on arrays that end or begin at a page that faults.

#include "drawloom/support/hash.h"
#include "jit_text.h"

namespace drawloom {
namespace {

constexpr int kWidths[] = {2, 3, 7, 8, 16, 32, 64};

template <typename T>
auto type_text() -> std::string {
  if (std::is_floating_point_v<T>) return str("f{}", sizeof(T) * 8);
  return str("{}{}", std::is_signed_v<T> ? "i" : "u", sizeof(T) * 8);
}

/// Masks of `lanes` lanes: none, all, prefixes, suffixes, single lanes, and random ones.
auto mask_patterns(int lanes) -> std::vector<std::vector<uint8_t>> {
  std::vector<std::vector<uint8_t>> out;
  for (int k = 0; k <= lanes; k += lanes <= 8 ? 1 : 5) {
    std::vector<uint8_t> prefix(size_t(lanes), 0), suffix = prefix;
    for (int i = 0; i < lanes; i++) prefix[size_t(i)] = i < k, suffix[size_t(i)] = i >= k;
    out.push_back(prefix);
    out.push_back(suffix);
  }
  out.emplace_back(static_cast<size_t>(lanes), uint8_t(1));
  CounterRandom random(7);
  for (int n = 0; n < 8; n++) {
    std::vector<uint8_t> bits(static_cast<size_t>(lanes));
    for (auto& b : bits) b = random.chance(50);
    out.push_back(bits);
  }
  return out;
}

constexpr const char* kMaskedCopy = R"(
func @load_masked(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(0, 1, $L)] = %in[ramp(%b, 1, $L); mask %m[ramp(0, 1, $L)]]
}
func @store_masked(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(%b, 1, $L); mask %m[ramp(0, 1, $L)]] = %in[ramp(0, 1, $L)]
}
func @load_down(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(0, 1, $L)] = %in[ramp(%b, -1, $L); mask %m[ramp(0, 1, $L)]]
}
func @store_down(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(%b, -1, $L); mask %m[ramp(0, 1, $L)]] = %in[ramp(0, 1, $L)]
}
func @load_by_2(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(0, 1, $L)] = %in[ramp(%b, 2, $L); mask %m[ramp(0, 1, $L)]]
}
func @store_by_2(%in: buffer<$T, 1>, %m: buffer<bool, 1>, %base: i64, out %out: buffer<$T, 1>) {
  let %b = cast<index>(%base)
  store %out[ramp(%b, 2, $L); mask %m[ramp(0, 1, $L)]] = %in[ramp(0, 1, $L)]
})";

/// Every base near both ends of a guarded array of `n`; lanes outside it are switched off.
template <typename T>
void check_masked(const JitModule& module, std::string_view direction, int stride, int lanes, bool at_end) {
  constexpr int64_t n = 70;
  Array<bool> mask({lanes});
  Array<T> dense({lanes});
  GuardedArray<T> far(n, at_end);
  int wrong = 0;
  for (const auto& pattern : mask_patterns(lanes)) {
    for (int64_t base : {int64_t(-lanes), int64_t(-1), int64_t(0), int64_t(3), n - lanes, n - 1, n + 2}) {
      auto active = [&](int k) { return pattern[size_t(k)] && base + k * stride >= 0 && base + k * stride < n; };
      for (int k = 0; k < lanes; k++) mask[size_t(k)] = active(k);
      for (int64_t i = 0; i < n; i++) far[i] = static_cast<T>(i + 1);
      wrong += run(module, str("load_{}", direction), nullptr, far, mask, &base, dense) != 0;
      for (int k = 0; k < lanes; k++) wrong += active(k) && dense[size_t(k)] != static_cast<T>(base + k * stride + 1);
      for (int k = 0; k < lanes; k++) dense[size_t(k)] = static_cast<T>(100 + k);
      wrong += run(module, str("store_{}", direction), nullptr, dense, mask, &base, far) != 0;
      for (int64_t i = 0; i < n; i++) {
        const int64_t k = (i - base) / stride;
        const bool written = (i - base) % stride == 0 && k >= 0 && k < lanes && active(int(k));
        wrong += far[i] != (written ? static_cast<T>(100 + k) : static_cast<T>(i + 1));
      }
    }
  }
  INFO(type_text<T>() << " " << direction << " in " << lanes << " lanes" << (at_end ? " at the end" : " at the start"));
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("masked accesses touch no lane that is off", "[codegen][memory]", uint8_t, int16_t, float,
                   uint64_t) {
  using T = TestType;
  for (const Target& target : {host_target(), x86_64_target(1)}) {
    for (int lanes : kWidths) {
      if (target.level == 1 && lanes % 8 != 0 && lanes != 7) continue;
      const auto module = compile(with_words(kMaskedCopy, {{"T", type_text<T>()}, {"L", str("{}", lanes)}}), target);
      for (bool at_end : {false, true}) {
        check_masked<T>(*module, "masked", 1, lanes, at_end);
        check_masked<T>(*module, "down", -1, lanes, at_end);
        check_masked<T>(*module, "by_2", 2, lanes, at_end);
      }
    }
  }
}

TEMPLATE_TEST_CASE("strided accesses touch nothing beyond their lanes", "[codegen][memory]", uint8_t, uint16_t, int32_t,
                   double) {
  using T = TestType;
  for (int lanes : {2, 3, 7, 8, 16, 32}) {
    std::string text;
    for (int stride = -6; stride <= 6; stride++) {
      text += with_words(
          R"(
func @load$N(%in: buffer<$T, 1>, %base: i64, out %out: buffer<$T, 1>) {
  store %out[ramp(0, 1, $L)] = %in[ramp(cast<index>(%base), $S, $L)]
}
func @store$N(%in: buffer<$T, 1>, %base: i64, out %out: buffer<$T, 1>) {
  store %out[ramp(cast<index>(%base), $S, $L)] = %in[ramp(0, 1, $L)]
})",
          {{"T", type_text<T>()}, {"L", str("{}", lanes)}, {"S", str("{}", stride)}, {"N", str("{}", stride + 6)}});
    }
    const auto module = compile(text);
    for (int stride = -6; stride <= 6; stride++) {
      INFO("stride " << stride << ", " << lanes << " lanes");
      const int64_t n = (lanes - 1) * std::abs(stride) + 1, base = stride < 0 ? n - 1 : 0;
      GuardedArray<T> far(n, stride % 2 == 0);
      Array<T> dense({lanes});
      for (int64_t i = 0; i < n; i++) far[i] = static_cast<T>(i + 1);
      REQUIRE(run(*module, str("load{}", stride + 6), nullptr, far, &base, dense) == 0);
      int wrong = 0;
      for (int k = 0; k < lanes; k++) wrong += dense[size_t(k)] != static_cast<T>(base + k * stride + 1);
      for (int k = 0; k < lanes; k++) dense[size_t(k)] = static_cast<T>(k + 3);
      for (int64_t i = 0; i < n; i++) far[i] = 0;
      wrong += run(*module, str("store{}", stride + 6), nullptr, dense, &base, far) != 0;
      for (int64_t i = 0; i < n; i++) {
        // All lanes on one element: the highest wins.
        const int64_t k = stride == 0 ? lanes - 1 : (i - base) / stride;
        const bool written = stride == 0 || (i - base) % stride == 0;
        wrong += far[i] != (written ? static_cast<T>(k + 3) : T(0));
      }
      CHECK(wrong == 0);
    }
  }
}

TEMPLATE_TEST_CASE("gathers and scatters go lane by lane", "[codegen][memory]", uint8_t, int16_t, float, int64_t) {
  using T = TestType;
  for (int lanes : {1, 4, 7, 16}) {
    const auto module = compile(with_words(R"(
func @gather(%in: buffer<$T, 1>, %at: buffer<i32, 1>, %m: buffer<bool, 1>, out %out: buffer<$T, 1>) {
  store %out[$R] = %in[cast<$I>(%at[$R]); mask %m[$R]]
}
func @scatter(%in: buffer<$T, 1>, %at: buffer<i32, 1>, %m: buffer<bool, 1>, out %out: buffer<$T, 1>) {
  store %out[cast<$I>(%at[$R]); mask %m[$R]] = %in[$R]
}
func @symbolic(%in: buffer<$T, 1>, %s: i32, out %out: buffer<$T, 1>) {
  store %out[$R] = %in[$Q]
})",
                                           {{"T", type_text<T>()},
                                            {"R", lanes == 1 ? "0" : str("ramp(0, 1, {})", lanes)},
                                            {"Q", lanes == 1 ? "0" : str("ramp(0, cast<index>(%s), {})", lanes)},
                                            {"I", lanes == 1 ? "index" : str("indexx{}", lanes)}}));
    GuardedArray<T> far(40, true);
    Array<int32_t> at({lanes});
    Array<bool> mask({lanes});
    Array<T> dense({lanes});
    CounterRandom random(5);
    int wrong = 0;
    for (int round = 0; round < 100; round++) {
      for (int k = 0; k < lanes; k++) {
        mask[size_t(k)] = random.chance(70);
        // Few different places, so that lanes meet; a lane that is off points anywhere.
        at[size_t(k)] =
            static_cast<int32_t>(mask[size_t(k)] ? random.uniform(30, 39) : random.uniform(-2000000000, 2000000000));
      }
      for (int64_t i = 0; i < 40; i++) far[i] = static_cast<T>(i + 1);
      wrong += run(*module, "gather", nullptr, far, at, mask, dense) != 0;
      std::vector<T> expected;
      for (int64_t i = 0; i < 40; i++) expected.push_back(far[i]);
      for (int k = 0; k < lanes; k++) {
        if (!mask[size_t(k)]) continue;
        wrong += dense[size_t(k)] != static_cast<T>(at[size_t(k)] + 1);
        expected[size_t(at[size_t(k)])] = static_cast<T>(50 + k);
      }
      for (int k = 0; k < lanes; k++) dense[size_t(k)] = static_cast<T>(50 + k);
      wrong += run(*module, "scatter", nullptr, dense, at, mask, far) != 0;
      for (int64_t i = 0; i < 40; i++) wrong += far[i] != expected[size_t(i)];
    }
    CHECK(wrong == 0);
    for (int32_t s : {0, 1, 2}) {
      if (s * (lanes - 1) >= 40) continue;
      for (int64_t i = 0; i < 40; i++) far[i] = static_cast<T>(i + 1);
      REQUIRE(run(*module, "symbolic", nullptr, far, &s, dense) == 0);
      for (int k = 0; k < lanes; k++) CHECK(dense[size_t(k)] == static_cast<T>(k * s + 1));
    }
  }
}

TEST_CASE("one mask for all lanes is a branch", "[codegen][memory]") {
  const auto module = compile(R"(
func @uniform(%in: buffer<u16, 1>, %on: bool, %base: i64, out %out: buffer<u16, 1>) {
  let %r = ramp(cast<index>(%base), 1, 16)
  store %out[%r; mask broadcast(%on, 16)] = %in[%r; mask broadcast(%on, 16)] + 1:u16x16
  store %out[0; mask %on] = %in[0; mask %on] + 5:u16
})");
  GuardedArray<uint16_t> in(16, true), out(16, true);
  for (int i = 0; i < 16; i++) in[i] = static_cast<uint16_t>(i), out[i] = 99;
  const uint8_t off = 0, on = 1;
  const int64_t wild = int64_t(1) << 40, start = 0;
  CHECK(run(*module, "uniform", nullptr, in, &off, &wild, out) == 0);
  for (int i = 0; i < 16; i++) CHECK(out[i] == 99);
  CHECK(run(*module, "uniform", nullptr, in, &on, &start, out) == 0);
  CHECK(out[0] == 5);
  for (int i = 1; i < 16; i++) CHECK(out[i] == i + 1);
}

/// Offsets of every width and sign, at the ends of their ranges, with and without what is the same in all lanes.
TEMPLATE_TEST_CASE("subscripts of data reach what they name", "[codegen][memory]", uint8_t, int8_t, uint16_t, int16_t,
                   int32_t, uint32_t) {
  using T = TestType;
  const auto text = with_words(R"(
func @load(%at: buffer<$T, 1>, %base: i64, %table: buffer<i64, 1>, out %out: buffer<i64, 1>) {
  store %out[ramp(0, 1, 8)] = %table[broadcast(cast<index>(%base) * 2 - 3, 8) + cast<indexx8>(%at[ramp(0, 1, 8)]) - broadcast(cast<index>(%base), 8)]
}
func @store(%at: buffer<$T, 1>, %base: i64, %table: buffer<i64, 1>, out %out: buffer<i64, 1>) {
  store %out[cast<indexx8>(%at[ramp(0, 1, 8)]) + broadcast(cast<index>(%base), 8)] = cast<i64x8>(ramp(7, 1, 8))
})",
                               {{"T", type_text<T>()}});
  const auto module = compile(text);
  Array<T> at({8});
  // Of 32 bits, as far as a test has memory for.
  const int64_t lowest = std::max<int64_t>(std::numeric_limits<T>::min(), -40000);
  const int64_t highest = std::min<int64_t>(std::numeric_limits<T>::max(), 70000);
  for (int i = 0; i < 4; i++)
    at[size_t(i)] = static_cast<T>(lowest + i), at[size_t(7 - i)] = static_cast<T>(highest - i);
  Array<int64_t> table({highest - lowest + 1}), out({highest - lowest + 1});
  for (size_t i = 0; i < table.size(); i++) table[i] = static_cast<int64_t>(i) * 5;
  const int64_t shift = -lowest, base = shift + 3;
  REQUIRE(run(*module, "load", nullptr, at, &base, table, out) == 0);
  for (int i = 0; i < 8; i++) CHECK(out[size_t(i)] == (int64_t(at[size_t(i)]) + shift) * 5);
  REQUIRE(run(*module, "store", nullptr, at, &shift, table, out) == 0);
  for (int i = 0; i < 8; i++) CHECK(out[static_cast<size_t>(int64_t(at[size_t(i)]) + shift)] == 7 + i);
}

/// Rows that are aligned, all misaligned, or some of both; a store under a condition, one whose subscript is not affine,
/// one that goes by 3 vectors where the stride is a parameter, and loops that run never or once.
TEST_CASE("loops of nontemporal stores work at any address", "[codegen][memory]") {
  const auto module = compile(R"(
func @rows(%base: i64, %pitch: i64, %n: i64, out %out: buffer<u16, 1>) {
  for %y = 0 : 3 {
    for %x = 1 : cast<index>(%n) {
      let %at = cast<index>(%base) + %y * cast<index>(%pitch) + (%x - 1) * 16
      store nontemporal %out[ramp(%at, 1, 16)] = broadcast(cast<u16>(%y * 100 + %x), 16)
      store nontemporal %out[ramp(%at + 3 * cast<index>(%pitch), 1, 16)] = broadcast(cast<u16>(%y * 100 + %x + 1000), 16)
      if %x == 2 {
        store nontemporal %out[ramp(%at, 1, 16)] = broadcast(7:u16, 16)
      }
    }
  }
  store_fence
}
func @steps(%base: i64, %pitch: i64, %n: i64, out %out: buffer<u16, 1>) {
  for %x = 0 : cast<index>(%n) {
    store nontemporal %out[ramp(cast<index>(%base) + %x * cast<index>(%pitch), 1, 16)] = broadcast(cast<u16>(%x + 1), 16)
  }
  store_fence
}
func @clamped(%base: i64, %pitch: i64, %n: i64, out %out: buffer<u16, 1>) {
  for %x = 0 : cast<index>(%n) {
    store nontemporal %out[ramp(cast<index>(%base) + min(%x * 16, cast<index>(%pitch)), 1, 16)] = broadcast(cast<u16>(%x + 1), 16)
  }
  store_fence
})");
  constexpr int64_t room = 1200;
  const auto check = [&](const char* name, int64_t base, int64_t pitch, int64_t n, const std::vector<int64_t>& want) {
    Array<uint16_t> out({room});
    REQUIRE(run(*module, name, nullptr, &base, &pitch, &n, out) == 0);
    int wrong = 0;
    for (size_t i = 0; i < want.size(); i++) wrong += out[i] != want[i];
    INFO(name << " from " << base << " by " << pitch << ", " << n << " times");
    CHECK(wrong == 0);
  };
  for (int64_t base : {0, 1, 3, 8, 16, 21, 31}) {
    for (int64_t pitch : {160, 161, 168, 176}) {
      for (int64_t n : {0, 1, 2, 9}) {
        std::vector<int64_t> rows(room), steps(room), clamped(room);
        const auto put = [&](std::vector<int64_t>& to, int64_t at, int64_t v) {
          for (int64_t k = 0; k < 16; k++) to[size_t(base + at + k)] = v;
        };
        for (int64_t y = 0; y < 3; y++) {
          for (int64_t x = 1; x <= n; x++) {
            put(rows, y * pitch + (x - 1) * 16, x == 2 ? 7 : y * 100 + x);
            put(rows, (y + 3) * pitch + (x - 1) * 16, y * 100 + x + 1000);
          }
        }
        check("rows", base, pitch, n, rows);
        const int64_t step = pitch / 2;
        for (int64_t x = 0; x < n; x++) put(steps, x * step, x + 1);
        check("steps", base, step, n, steps);
        const int64_t last = pitch % 100;
        for (int64_t x = 0; x < n; x++) put(clamped, std::min(x * 16, last), x + 1);
        check("clamped", base, last, n, clamped);
      }
    }
  }
}

TEST_CASE("nontemporal stores work at any address", "[codegen][memory]") {
  for (const Target& target : {host_target(), x86_64_target(1)}) {
    const auto module = compile(R"(
func @stream(%in: buffer<u8, 1>, %base: i64, out %out: buffer<u8, 1>) {
  store nontemporal %out[ramp(cast<index>(%base), 1, 32)] = %in[ramp(0, 1, 32)]
  store nontemporal %out[ramp(cast<index>(%base) + 32, 1, 7)] = %in[ramp(0, 1, 7)]
  store nontemporal %out[cast<index>(%base) + 39] = 77:u8
  store_fence
})",
                                target);
    for (int64_t base = 0; base < 70; base++) {
      Array<uint8_t> in({32}), out({120}, 1);
      for (size_t i = 0; i < 32; i++) in[i] = static_cast<uint8_t>(i + 2);
      REQUIRE(run(*module, "stream", nullptr, in, &base, out) == 0);
      int wrong = 0;
      for (int64_t i = 0; i < 120; i++) {
        const int64_t k = i - base;
        const int64_t expected = k < 0 || k >= 40 ? 1 : k < 32 ? k + 2 : k < 39 ? k - 30 : 77;
        wrong += out[size_t(i)] != expected;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("comparisons of ramps are those of their lanes", "[codegen][memory]") {
  struct Word {
    const char* name;
    bool (*eval)(int64_t, int64_t);
  };
  const Word words[] = {
      {"<", [](int64_t a, int64_t b) { return a < b; }},   {"<=", [](int64_t a, int64_t b) { return a <= b; }},
      {">", [](int64_t a, int64_t b) { return a > b; }},   {">=", [](int64_t a, int64_t b) { return a >= b; }},
      {"==", [](int64_t a, int64_t b) { return a == b; }}, {"!=", [](int64_t a, int64_t b) { return a != b; }}};
  for (int lanes : {2, 7, 8, 16, 32, 64, 100, 256}) {
    for (int stride : {1, -1, 2}) {
      std::string text;
      for (size_t w = 0; w < 6; w++) {
        for (bool swapped : {false, true}) {
          const std::string ramp = with_words("ramp(cast<index>(%a), $S, $L) + 3:indexx$L",
                                              {{"S", str("{}", stride)}, {"L", str("{}", lanes)}});
          const std::string limit = str("broadcast(cast<index>(%b), {})", lanes);
          text += with_words(
              "func @f$N(%a: i64, %b: i64, out %out: buffer<bool, 1>) {\nstore %out[ramp(0, 1, $L)] = $X $O $Y\n}\n",
              {{"N", str("{}", 2 * w + swapped)},
               {"X", swapped ? limit : ramp},
               {"Y", swapped ? ramp : limit},
               {"O", words[w].name},
               {"L", str("{}", lanes)}});
        }
      }
      const auto module = compile(text);
      int wrong = 0;
      Array<bool> out({lanes});
      for (int64_t a : {int64_t(-1000000007), int64_t(1) << 40}) {
        for (int64_t d = -lanes - 4; d <= lanes + 4; d += lanes > 32 ? 3 : 1) {
          const int64_t b = a + d;
          for (size_t f = 0; f < 12; f++) {
            wrong += run(*module, str("f{}", f), nullptr, &a, &b, out) != 0;
            for (int k = 0; k < lanes; k++) {
              const int64_t r = a + 3 + k * stride;
              wrong += out[size_t(k)] != (f % 2 ? words[f / 2].eval(b, r) : words[f / 2].eval(r, b));
            }
          }
        }
      }
      INFO(lanes << " lanes, stride " << stride);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("bools in memory are bytes", "[codegen][memory]") {
  const auto module = compile(R"(
func @bools(%in: buffer<bool, 1>, out %out: buffer<bool, 1>) {
  store %out[ramp(0, 1, 7)] = !%in[ramp(0, 1, 7)]
  store %out[7] = !%in[7]
})");
  Array<bool> in({8}), out({8}, true);
  // A caller's true need not be 1.
  const uint8_t given[8] = {0, 1, 2, 255, 0, 128, 0, 3};
  for (size_t i = 0; i < 8; i++) in[i] = given[i];
  REQUIRE(run(*module, "bools", nullptr, in, out) == 0);
  for (size_t i = 0; i < 8; i++) CHECK(out[i] == (given[i] == 0 ? 1 : 0));
}

}  // namespace
}  // namespace drawloom
