#include "cli/ceiling_options.h"

#include <map>

#include "cli/choices.h"
#include "cli/clock.h"

namespace roofline::cli {

void CeilingOptions::setup(CLI::App& group) {
  static const std::map<std::string, CeilingChoice> kCeilings = {{"auto", CeilingChoice::automatic},
                                                                 {"datasheet", CeilingChoice::datasheet},
                                                                 {"at-clock", CeilingChoice::at_clock},
                                                                 {"measured", CeilingChoice::measured}};
  group
      .add_option("--ceiling", ceiling_,
                  "auto (at the clock of the run where the file has it, else datasheet), datasheet, at-clock or "
                  "measured")
      ->transform(one_of(kCeilings))
      ->type_name("KIND");
  group.add_option("--clock", clock_, "Roofs at this SM clock instead: 1755, 1.755GHz");
  group.add_option("--mem-clock", memory_clock_, "Roofs at this memory clock instead (half a pin's data rate)");
}

void CeilingOptions::apply(AnalysisOptions& options) const {
  options.ceiling = ceiling_;
  if (!clock_.empty()) options.sm_clock_hz = parse_clock(clock_, "--clock");
  if (!memory_clock_.empty()) options.memory_clock_hz = parse_clock(memory_clock_, "--mem-clock");
}

}  // namespace roofline::cli
