#include "chart/placer.h"

#include <array>
#include <numbers>

namespace roofline::chart {

Occupancy::Occupancy(const Box& area, double cell)
    : area_(area),
      cell_(cell),
      columns_(static_cast<std::size_t>(std::ceil(std::max(area.width(), cell) / cell))),
      rows_(static_cast<std::size_t>(std::ceil(std::max(area.height(), cell) / cell))),
      weights_(columns_ * rows_, 0.0F) {}

Occupancy::Cells Occupancy::cells(const Box& box) const {
  const auto index = [&](double v, double origin, std::size_t n, bool up) {
    const double i = up ? std::ceil((v - origin) / cell_) : std::floor((v - origin) / cell_);
    return static_cast<std::size_t>(std::clamp(i, 0.0, static_cast<double>(n)));
  };
  return {index(box.left, area_.left, columns_, false), index(box.top, area_.top, rows_, false),
          index(box.right, area_.left, columns_, true), index(box.bottom, area_.top, rows_, true)};
}

void Occupancy::add(const Box& box, double weight) {
  const auto c = cells(box);
  for (auto y = c.top; y < c.bottom; ++y)
    for (auto x = c.left; x < c.right; ++x) weights_[y * columns_ + x] += static_cast<float>(weight);
}

void Occupancy::raise(const Box& box, double weight) {
  const auto c = cells(box);
  for (auto y = c.top; y < c.bottom; ++y)
    for (auto x = c.left; x < c.right; ++x)
      weights_[y * columns_ + x] = std::max(weights_[y * columns_ + x], static_cast<float>(weight));
}

double Occupancy::covered(const Box& box) const {
  const auto c = cells(box);
  if (c.left >= c.right || c.top >= c.bottom) return 0;
  double sum = 0;
  for (auto y = c.top; y < c.bottom; ++y)
    for (auto x = c.left; x < c.right; ++x) sum += weights_[y * columns_ + x];
  return sum / static_cast<double>((c.right - c.left) * (c.bottom - c.top));
}

double Occupancy::most(const Box& box) const {
  const auto c = cells(box);
  float most = 0;
  for (auto y = c.top; y < c.bottom; ++y)
    for (auto x = c.left; x < c.right; ++x) most = std::max(most, weights_[y * columns_ + x]);
  return most;
}

namespace {
double cell_size(bool cells) { return cells ? 1.0 : 3.0; }
}  // namespace

Placer::Placer(const Box& area, const Distances& distances)
    : area_(area),
      distances_(distances),
      taken_(area, cell_size(distances.cells)),
      touched_(area, cell_size(distances.cells)) {}

void Placer::avoid(const Box& box, Weight weight) {
  taken_.add(box, weight.whole);
  touched_.raise(box, weight.touch);
}

void Placer::avoid_line(Point a, Point b, Weight weight) {
  const double cell = cell_size(distances_.cells);
  const auto steps = static_cast<std::size_t>(std::ceil(distance(a, b) / cell)) + 1;
  for (std::size_t i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(steps);
    const Point p{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
    if (area_.contains(p)) avoid({p.x, p.y, p.x + cell / 2, p.y + cell / 2}, weight);
  }
}

Box Placer::candidate_box(Point mark, double reach, Direction direction, double width, double height) const {
  // The label's nearest side or corner, not its middle, stands at the distance.
  constexpr double kSideways = 0.3;
  const double c = std::cos(direction.angle * std::numbers::pi);
  const double s = std::sin(direction.angle * std::numbers::pi);
  const double dx = std::abs(c) < kSideways ? direction.slide * width : std::copysign(width / 2, c);
  const double dy = std::abs(s) < kSideways ? 0 : std::copysign(height / 2, s);
  const Point middle{mark.x + c * reach + dx, mark.y + s * reach + dy};
  Box box{middle.x - width / 2, middle.y - height / 2, middle.x + width / 2, middle.y + height / 2};
  if (distances_.cells) {
    box.left = 2 * std::round(box.left / 2);
    box.top = 4 * std::round(box.top / 4);
    box.right = box.left + width;
    box.bottom = box.top + height;
  }
  return box;
}

bool Placer::is_free(const Box& box) const {
  if (!area_.contains(box)) return false;
  // Two texts in one row of cells need a space between them.
  const double apart = distances_.cells ? 2 : 0;
  const Box room{box.left - apart, box.top, box.right + apart, box.bottom};
  if (std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& b) { return b.overlaps(room); })) return false;
  return std::none_of(leaders_.begin(), leaders_.end(), [&](const auto& l) { return crosses(l.first, l.second, box); });
}

bool Placer::leader_is_free(Point from, Point to) const {
  return std::none_of(boxes_.begin(), boxes_.end(), [&](const Box& b) { return crosses(from, to, b); });
}

std::optional<Placed> Placer::place(Point mark, double radius, double width, double height, double most) {
  // Beside the mark reads best, then above and below, then the diagonals.
  static constexpr std::array<Direction, 28> kDirections = {
      {{0, 0},      {1, 0},       {-0.5, 0},  {0.5, 0},   {-0.25, 0}, {0.25, 0},    {-0.75, 0},
       {0.75, 0},   {-0.12, 0},   {0.12, 0},  {-0.88, 0}, {0.88, 0},  {-0.5, 0.35}, {-0.5, -0.35},
       {0.5, 0.35}, {0.5, -0.35}, {-0.37, 0}, {0.37, 0},  {-0.63, 0}, {0.63, 0},    {-0.06, 0},
       {0.06, 0},   {-0.94, 0},   {0.94, 0},  {-0.44, 0}, {0.44, 0},  {-0.56, 0},   {0.56, 0}}};
  constexpr std::size_t kNear = 16;  // directions that make a difference on the inner rings
  constexpr std::size_t kRings = 7;
  constexpr double kRingCost = 0.22;
  std::optional<Candidate> best;
  for (std::size_t ring = 0; ring < kRings; ++ring) {
    const double reach = radius + distances_.gap + static_cast<double>(ring * ring + ring) / 2 * distances_.leader_step;
    for (std::size_t i = 0; i < (ring < 2 ? kNear : kDirections.size()); ++i) {
      const double cost0 = kRingCost * static_cast<double>(ring) + 0.01 * static_cast<double>(i);
      if (best && cost0 >= best->cost) continue;
      const auto box = candidate_box(mark, reach, kDirections[i], width, height);
      if (!is_free(box)) continue;
      const double all = cost0 + cost(box);
      if (all > most || (best && all >= best->cost)) continue;
      if (ring > 0 && !leader_is_free(mark, box.nearest(mark))) continue;
      best = Candidate{box, all};
    }
  }
  if (!best) return std::nullopt;
  boxes_.push_back(best->box);
  const auto end = best->box.nearest(mark);
  Placed placed{best->box, std::nullopt};
  if (distance(mark, end) > radius + distances_.gap + distances_.leader_step / 2) {
    placed.leader = end;
    leaders_.emplace_back(mark, end);
    avoid_line(mark, end, {1.0, 0.3});
  }
  return placed;
}

std::optional<std::size_t> Placer::place_first(const std::vector<std::vector<Box>>& candidates) {
  constexpr double kTooMuch = 0.9;  // a name that covers lines says nothing of its own
  constexpr double kClearlyBetter = 0.12;
  std::optional<std::size_t> best;
  double least = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& boxes = candidates[i];
    if (!std::all_of(boxes.begin(), boxes.end(), [&](const Box& b) { return is_free(b); })) continue;
    double most = 0;
    for (const auto& box : boxes) most = std::max(most, cost(box));
    if (most > kTooMuch || (best && most >= least - kClearlyBetter)) continue;
    best = i;
    least = most;
  }
  if (best) boxes_.insert(boxes_.end(), candidates[*best].begin(), candidates[*best].end());
  return best;
}

}  // namespace roofline::chart
