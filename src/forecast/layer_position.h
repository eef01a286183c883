// Which operator of a layer a measured kernel is, told by its name and by what ran before it.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/forecast.h"

namespace roofline::model {

// A measured kernel on its way to an operator.
struct Kernel {
  const KernelRow* row = nullptr;
  std::string family;  // operator of data/kernel_names.csv; empty when no family fits
  std::string op;      // of the model; empty: none
  std::string by;
  std::string reason;         // why it has none
  bool part_of_call = false;  // second kernel of a call: its time counts, its launch does not
};

inline bool starts(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

// The operator names of one forecast.
class Operators {
 public:
  explicit Operators(const Forecast& forecast);
  bool has(const std::string& name) const { return rows_.find(name) != rows_.end(); }
  std::string first_of(std::initializer_list<const char*> names) const;

 private:
  std::map<std::string, const StepRow*> rows_;
};

// The matrix products of a layer by section, in the order in which the model runs them.
struct LayerProducts {
  std::vector<std::string> before_attention;  // qkv_proj; or qkv_a_proj, q_b_proj, mla_q_absorb_bmm
  std::vector<std::string> after_attention;   // o_proj; or mla_v_up_bmm, o_proj
  std::vector<std::string> dense;             // gate_up_proj, down_proj
  std::vector<std::string> experts;           // moe_router, shared_gate_up, shared_down
};
LayerProducts products_of_layer(const Forecast& forecast);

// Names of matrix products tell tiles, not operands: which product it is follows from what ran before it. One per
// stream.
class LayerPosition {
 public:
  LayerPosition(const Operators& operators, const LayerProducts& products)
      : operators_(operators), products_(products) {}

  // Gives `k` its operator, or the reason why it has none. `experts_follow`: experts run before the next attention.
  void step(Kernel& k, bool experts_follow);

 private:
  enum class Section { unknown, embedding, before_attention, after_attention, mlp };

  static void assign(Kernel& k, std::string op, const char* by);
  void named(Kernel& k, std::initializer_list<const char*> names) const;
  void enter(Section section, const std::vector<std::string>* products);
  void enter_mlp(bool experts_follow);
  void pass_norm(bool experts_follow);
  void norm(Kernel& k, bool experts_follow);
  void attention(Kernel& k);
  void activation(Kernel& k);
  void expert(Kernel& k);
  void product(Kernel& k);
  void reduction(Kernel& k, bool experts_follow);
  std::string next_product();

  const Operators& operators_;
  const LayerProducts& products_;
  Section section_ = Section::unknown;
  const std::vector<std::string>* list_ = nullptr;  // products of the section
  std::size_t next_ = 0;                            // into list_
  bool worked_ = false;                             // a product of the section has run
  int grouped_ = 0;                                 // products of experts in this layer
  std::string last_product_;
};

}  // namespace roofline::model
