/// gpu_conformance [--write FOLDER]: every micro-kernel on the simulator against its formula; is there one for every row of
/// atoms.def? `--write` leaves for a run on a device (conformance_run.c) each as NAME.ir, with its call in the first line;
/// NAME.call, a line `code bits rank extents..` for each buffer; NAME.before, the bytes of all buffers at the start; and
/// NAME.expected, those of the last one at the end.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>

#include "drawloom/interp/simt/call.h"
#include "drawloom/ir/atoms.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"
#include "micro.h"

namespace drawloom::gpu_tests {

auto MicroLaunch::text() const -> std::string {
  return str(
      "drawloom-ir 1\n\nfunc @{}({}) {{\n{}launch \"{}\"{} shared {} {{\nblock for %b = 0 : {} {{\nthread for %t = 0 : "
      "{} {{\n{}}}\n}}\n}}\n}}\n",
      name, arguments, maps, name, cluster, shared, blocks, threads, body);
}

auto hashed_f32(const std::vector<int64_t>& coords) -> double { return hashed_value(float_type(32), 1, coords).f; }

namespace {

/// The row of atoms.def that an atom comes from: its name without the number of its member.
auto row_of(const DeviceAtom& a) -> std::string {
  std::string out = a.name;
  const auto cut = [&](const std::string& before, const std::string& after) {
    const size_t at = out.find(before);
    if (at == std::string::npos) return;
    const size_t from = at + before.size(), to = out.find(after, from);
    if (to != std::string::npos) out.replace(from, to - from, "N");
  };
  if (a.family == AtomFamily::Wgmma || a.family == AtomFamily::WgmmaRegisters) cut("m64n", "k");
  return out;
}

/// Empty, or why the simulator and the formula differ. `bytes`: of the last buffer.
auto problem_of(const MicroKernel& k, const SimOptions& o, std::vector<std::byte>& bytes) -> std::string {
  auto programs = parse_programs(k.text, k.name);
  if (!programs.ok()) return programs.diag().text();
  const Program& p = programs->at(0);
  for (const auto& d : verify(p, 0)) return d.text();
  auto call = sim_call(p, k.words);
  if (!call.ok()) return call.diag().text();
  const auto report = simulate(p, call->arguments, o);
  if (!report.ok()) return report.diag().text();
  if (!report->errors.empty()) return report->errors[0].text();
  const Array& out = call->arrays.back();
  bytes = out.data;
  for (int64_t i = 0; i < out.elements(); ++i) {
    const Value v = out.read(i);
    const double is = v.type.is_float() ? v.f : static_cast<double>(bits_of(v));
    if (is != k.expected(i)) return str("element {} is {}, not {}", i, is, k.expected(i));
  }
  return {};
}

auto write_kernel(const std::string& folder, const MicroKernel& k, const std::vector<std::byte>& bytes) -> bool {
  std::ofstream text(folder + "/" + k.name + ".ir"), expected(folder + "/" + k.name + ".expected", std::ios::binary);
  text << "// size: " << join(k.words, " ") << "\n" << k.text;
  expected.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::ofstream shapes(folder + "/" + k.name + ".call"), before(folder + "/" + k.name + ".before", std::ios::binary);
  const auto programs = parse_programs(k.text, k.name).or_throw();
  const auto call = sim_call(programs.at(0), k.words).or_throw();
  for (const Array& a : call.arrays) {
    shapes << static_cast<int>(a.element.code) << " " << static_cast<int>(a.element.bits) << " " << a.rank();
    for (const auto& d : a.dims) shapes << " " << d.extent;
    shapes << "\n";
    before.write(reinterpret_cast<const char*>(a.data.data()), static_cast<std::streamsize>(a.data.size()));
  }
  return text.good() && expected.good() && shapes.good() && before.good();
}

auto main_of(int argc, char** argv) -> int {
  const std::string folder = argc == 3 && std::strcmp(argv[1], "--write") == 0 ? argv[2] : "";
  std::vector<MicroKernel> kernels = register_kernels();
  for (auto& k : matrix_kernels()) kernels.push_back(std::move(k));
  for (auto& k : copy_kernels()) kernels.push_back(std::move(k));
  int passed = 0, failed = 0;
  std::set<std::string> rows{"tma.prefetch_map"};  // does nothing that could be seen
  for (const auto& k : kernels) {
    const DeviceAtom* atom = find_atom(k.atom);
    if (atom) rows.insert(row_of(*atom));
    std::string problem = !atom                                                    ? "there is no atom " + k.atom
                          : k.text.find("\"" + k.atom + "\"") == std::string::npos ? "does not use " + k.atom
                                                                                   : "";
    std::vector<std::byte> bytes;
    for (const auto& o : sim_policies()) {
      if (problem.empty()) problem = problem_of(k, o, bytes);
    }
    if (problem.empty() && !folder.empty() && !write_kernel(folder, k, bytes)) problem = "cannot write to " + folder;
    (problem.empty() ? passed : failed) += 1;
    if (!problem.empty()) std::printf("FAILED %s: %s\n", k.name.c_str(), problem.c_str());
  }
  for (const auto& a : all_atoms()) {
    if (!rows.insert(row_of(a)).second) continue;
    std::printf("FAILED no kernel for %s\n", row_of(a).c_str());
    ++failed;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::gpu_tests

int main(int argc, char** argv) { return drawloom::gpu_tests::main_of(argc, argv); }
