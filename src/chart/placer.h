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
  void add_line(Point a, Point b, double weight);
  // Mean weight under the box.
  double covered(const Box& box) const;

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
  void avoid(const Box& box, double weight) { taken_.add(box, weight); }
  void avoid_line(Point a, Point b, double weight) { taken_.add_line(a, b, weight); }
  // Things that no label may cover.
  void block(const Box& box) { boxes_.push_back(box); }

  // Room for a label of this size near a mark; nullopt where there is none. What is returned is taken from then on.
  std::optional<Placed> place(Point mark, double radius, double width, double height);
  // The candidate that covers least, an earlier one where there is little to choose; nullopt where all cover much.
  std::optional<Box> place_first(const std::vector<Box>& candidates);

  // Boxes given out and blocked.
  const std::vector<Box>& boxes() const { return boxes_; }

 private:
  struct Candidate {
    Box box;
    double cost;
  };
  Box candidate_box(Point mark, double reach, double angle, double width, double height) const;
  bool is_free(const Box& box) const;
  bool leader_is_free(Point from, Point to) const;

  Box area_;
  Distances distances_;
  Occupancy taken_;
  std::vector<Box> boxes_;
  std::vector<std::pair<Point, Point>> leaders_;
};

}  // namespace roofline::chart
