// Finds room for labels: greedy, the most important first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chart/geometry.h"

namespace roofline::chart {

// How much of an area is taken, by square cells. Asking for a box is cheap however much was drawn.
class Occupancy {
 public:
  Occupancy(const Box& area, double cell);
  void add(const Box& box, double weight);
  // The larger of `weight` and what is there.
  void raise(const Box& box, double weight);
  // Mean weight under the box, and the most.
  double covered(const Box& box) const;
  double most(const Box& box) const;

 private:
  struct Cells {
    std::size_t left, top, right, bottom;  // right and bottom exclusive
  };
  Cells cells(const Box& box) const;

  Box area_;
  double cell_;
  std::size_t columns_, rows_;
  std::vector<float> weights_;
};

// What it costs a label to cover a thing: all of it, and any part of it.
struct Weight {
  double whole, touch;
};

struct Placed {
  Box box;
  std::optional<Point> leader;  // where the leader ends at the label, if it needs one
};

class Placer {
 public:
  struct Distances {
    double gap;          // between a mark and its label
    double leader_step;  // between rings
    bool cells;          // labels stand in character cells
  };
  Placer(const Box& area, const Distances& distances);

  // Things that labels should keep off, but may cover where there is no other room.
  void avoid(const Box& box, Weight weight);
  void avoid_line(Point a, Point b, Weight weight);
  // Things that no label may cover.
  void block(const Box& box) { boxes_.push_back(box); }

  // Room for a label of this size near a mark; nullopt where all would cost more than `most`. What is returned is taken
  // from then on.
  std::optional<Placed> place(Point mark, double radius, double width, double height, double most);
  // The index of the candidate that covers least, an earlier one where there is little to choose; nullopt where all
  // cover much. A candidate is one box, or several for what lies slanted.
  std::optional<std::size_t> place_first(const std::vector<std::vector<Box>>& candidates);

  // Boxes given out and blocked.
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  struct Candidate {
    Box box;
    double cost;
  };
  // `slide` moves a label above or below sideways, in widths.
  struct Direction {
    double angle;  // in units of pi
    double slide;
  };
  Box candidate_box(Point mark, double reach, Direction direction, double width, double height) const;
  bool is_free(const Box& box) const;
  double cost(const Box& box) const { return taken_.covered(box) + touched_.most(box); }
  bool leader_is_free(Point from, Point to) const;

  Box area_;
  Distances distances_;
  Occupancy taken_, touched_;
  std::vector<Box> boxes_;
  std::vector<std::pair<Point, Point>> leaders_;
};

}  // namespace roofline::chart
