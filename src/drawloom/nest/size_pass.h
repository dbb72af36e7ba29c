#pragma once
/// The pass behind NestSizes. sizes.cpp: one realisation after the other, and results; size_needs.cpp: what one is needed for;
/// size_forms.cpp: Forms as numbers.

#include <array>
#include <bitset>

#include "drawloom/nest/cone.h"
#include "drawloom/nest/sizes.h"

namespace drawloom {

class SizePass {
 public:
  SizePass(const Nest& nest, const NestSizes::Values& runtime, NestSizes& out);
  void run();

 private:
  static constexpr size_t kMaxRank = 16;
  /// Sites and loops are numbers of nodes. Those around one stage are ordered by them: outer ones are smaller, the root the smallest.
  static constexpr int kRoot = -1, kNone = -1;
  using Dims = std::array<SizedDim, kMaxRank>;

  /// One loop stands `by` iterations before its value.
  struct Back {
    int loop = kNone;
    int64_t by = 1;
    friend auto operator==(const Back&, const Back&) -> bool = default;
  };
  /// Where a need is in dims_, of those asked for before.
  struct Known {
    int site;
    Back back;
    size_t dims;
    int before;  ///< of the same realisation
  };
  struct Realisation {
    const GraphFunc* func = nullptr;
    const RealisationPlace* place = nullptr;
    size_t rank = 0;
    size_t need = 0, computed = 0, stored = 0;  ///< where they are in dims_; computed is need where nothing is kept
    std::array<int, kMaxRank> slid_by;          ///< per dimension the loop whose last iteration left elements, or kNone
    int known = kNone;                          ///< the last entry of known_
    int64_t runs = 1;
    auto compute_site() const -> int { return place->group->loop; }
    auto store_site() const -> int { return place->store ? place->store->loop : place->group->loop; }
  };
  struct Reader {
    const Located* at;  ///< the leaf
    int realisation;    ///< of it
    const AccessSummary* access;
    int next;  ///< of the same Func
  };
  /// Values that symbols take.
  struct Box {
    struct Entry {
      const Symbol* symbol;
      SizedDim range;
      bool fixed;  ///< stands still, at both ends of range
    };
    std::vector<Entry> entries;
    bool empty = false;
    void clear() { entries.clear(), empty = false; }
    void add(const Symbol* s, const SizedDim& d) { entries.push_back({s, d, false}), empty = empty || d.hi < d.lo; }
    void add_fixed(const Symbol* s, int64_t value) { entries.push_back({s, {value, value, value}, true}); }
    auto find(const Symbol* s) const -> const SizedDim* {
      for (const auto& e : entries)
        if (e.symbol == s) return &e.range;
      return nullptr;
    }
  };

  /// Without the clamps of tails it may be higher.
  struct Highest {
    int64_t hi, free_hi;
  };

  // sizes.cpp
  void find_readers();
  void find(Realisation& me);
  void find_slides(Realisation& me);
  auto moved_dims(Realisation& me, Back back) -> std::bitset<kMaxRank>;
  void find_loops(Realisation& me);
  void widen(const Realisation& me, const Cone& cone, size_t region);
  void narrow(const Realisation& me, const Cone& cone, const Dims& widest);
  auto points_of(const Realisation& me, const StageLeaf& leaf) const -> int64_t;
  void publish();

  // size_needs.cpp
  auto need_at(Realisation& me, int site, Back back) -> size_t;
  void output_region(const GraphFunc& f, Dims& need) const;
  auto union_of_reads(const Realisation& me, int site, Back back, Dims& need) -> bool;
  void add_update_needs(const Realisation& me, Back back, Dims& need);
  void apply_decisions(const GraphFunc& f, Dims& need) const;
  auto box_of(const Reader& reader, int site, Back back) -> const Box&;
  auto stand_still(const Located& at, const StageDim& dim, int site, Back back, const SizedDim& region) -> SizedDim;
  auto steps_inside(const Realisation& me, const Located& at, int site) -> size_t;
  auto region_inside(Realisation& me, int site, Back back) -> size_t;
  auto image(const Interval<Form>& access, const Box& box, Back back) const -> SizedDim;
  auto dim_range(const Realisation& me, const StageLeaf& leaf, const StageDim& dim) const -> SizedDim;
  auto rvar_range(const StageLeaf& leaf, const SymbolRef& var, Back back) const -> SizedDim;

  // size_forms.cpp
  auto symbol_value(const Symbol& s, Back back) const -> int64_t;
  auto region_symbol_value(const Symbol& s) const -> int64_t;
  auto value(const Form& f, Back back) const -> int64_t;
  auto value(const Form& f) const -> int64_t { return value(f, {}); }
  /// Ends of f over the box.
  auto lowest(const Form& f, const Box& box, Back back) const -> int64_t;
  auto highest(const Form& f, const Box& box, Back back) const -> Highest;
  auto interval(const Form& f, const Box& box, Back back, bool free) const -> Interval<int64_t>;
  auto amount(const Amount& a) const -> int64_t;

  auto node(int number) const -> const Located& { return index_.nodes[static_cast<size_t>(number)]; }
  auto loop(int number) const -> NestSizes::Loop& { return out_.loops_[static_cast<size_t>(number)]; }
  auto realisation(int number) -> Realisation& { return realisations_[static_cast<size_t>(number)]; }
  auto is_below(const Located& at, int site) const -> bool { return site == kRoot || node(site).encloses(at); }
  auto dims(size_t first) -> SizedDim* { return out_.dims_.data() + first; }
  auto add_dims(const Dims& d, size_t rank) -> size_t;
  auto copy_of(size_t first, size_t rank) -> size_t;
  /// Loops of the stage, outermost first; until the next call.
  auto own_loops(const Located& leaf) -> const std::vector<int>&;

  const Nest& nest_;
  const TreeIndex& index_;
  const NestSizes::Values& runtime_;
  NestSizes& out_;
  std::vector<Realisation> realisations_;  ///< as in TreeIndex::places
  std::vector<Reader> readers_;
  std::vector<int> readers_of_;  ///< the first reader of a Func
  std::vector<Known> known_;
  Box box_, loop_box_;                       ///< the last ones made
  std::vector<int> own_;                     ///< of own_loops
  const StageLeaf* current_ = nullptr;       ///< whose loops are looked at
  const Realisation* current_of_ = nullptr;  ///< of current_
  bool goes_back_ = false;                   ///< of moved_dims
};

}  // namespace drawloom
