#include "chart/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "chart/axis.h"
#include "chart/fixtures.h"
#include "chart/placer.h"
#include "chart/ranges.h"
#include "report/hostile.h"
#include "support/report_builder.h"

namespace roofline::testing {
namespace {

using namespace chart;

template <typename T>
std::vector<T> items(const Scene& scene) {
  std::vector<T> out;
  for (const auto& item : scene.items)
    if (const auto* found = std::get_if<T>(&item)) out.push_back(*found);
  return out;
}

bool in_picture(const Text& t) { return t.ink == Ink::label || t.ink == Ink::number || t.ink == Ink::roof_text; }

bool overlap(const Text& a, const Text& b) {
  for (const auto& x : boxes_of(a))
    for (const auto& y : boxes_of(b))
      if (x.grown(-0.1).overlaps(y)) return true;
  return false;
}

// Overlapping pairs of texts, a tenth of a unit tolerated.
std::vector<std::string> clashes(const Scene& scene) {
  const auto texts = items<Text>(scene);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = i + 1; j < texts.size(); ++j)
      if (overlap(texts[i], texts[j])) out.push_back(texts[i].text + " / " + texts[j].text);
  return out;
}

std::vector<Chart> all_charts() {
  const auto sweep = batch_sweep();
  return {report_chart(llama_step()),
          report_chart(decode_step()),
          report_chart(crowded_step(300)),
          hierarchical_chart(tiled_gemm(), 0),
          trajectory_chart("sweep", sweep_steps(sweep)),
          comparison_chart(before_change(), after_change(), matches()),
          report_chart(hostile_report()),
          report_chart(Report{})};
}

class EverySurface : public ::testing::TestWithParam<Surface> {};

TEST_P(EverySurface, TextsDoNotOverlap) {
  const auto charts = all_charts();
  for (std::size_t i = 0; i < charts.size(); ++i)
    EXPECT_THAT(clashes(lay_out(charts[i], GetParam())), ::testing::IsEmpty()) << i;
}

TEST_P(EverySurface, NothingLeavesThePicture) {
  for (const auto& c : all_charts()) {
    const auto scene = lay_out(c, GetParam());
    const Box page{-0.01, -0.01, scene.width + 0.01, scene.height + 0.01};
    for (const auto& t : items<Text>(scene)) EXPECT_TRUE(page.contains(t.box)) << t.text << " in " << c.title;
  }
}

TEST_P(EverySurface, MarksAndTheirLabelsStandInsideThePlot) {
  for (const auto& c : all_charts()) {
    const auto scene = lay_out(c, GetParam());
    std::set<std::size_t> drawn;
    for (const auto& m : items<Marker>(scene)) {
      if (m.point == Marker::kNone) continue;
      drawn.insert(m.point);
      const auto& frame = c.points[m.point].intensity ? scene.plot : scene.strip;
      EXPECT_TRUE(frame.contains(m.at)) << c.points[m.point].label;
    }
    EXPECT_EQ(drawn.size(), c.points.size()) << c.title;
    for (const auto& t : items<Text>(scene)) {
      const bool inside = scene.plot.contains(t.box) || scene.strip.contains(t.box);
      EXPECT_TRUE(inside || !in_picture(t)) << t.text;
    }
  }
}

// Named in the picture, or numbered and listed by name.
TEST_P(EverySurface, EveryKernelCanBeToldApart) {
  const auto c = report_chart(crowded_step(300));
  auto surface = GetParam();
  surface.listed = 500;
  const auto scene = lay_out(c, surface);
  std::set<std::size_t> named;
  for (const auto& t : items<Text>(scene))
    if (t.point != Marker::kNone && t.ink != Ink::number) named.insert(t.point);
  EXPECT_EQ(named.size(), c.points.size());
}

INSTANTIATE_TEST_SUITE_P(Layout, EverySurface,
                         ::testing::Values(page_surface(1000), page_surface(640), cell_surface(120, true),
                                           cell_surface(80, false)));

TEST(Layout, MostOfThreeHundredKernelsAreMarkedInThePicture) {
  const auto scene = lay_out(report_chart(crowded_step(300)), page_surface(1000));
  std::size_t marked = 0;
  for (const auto& t : items<Text>(scene)) marked += t.ink == Ink::label || t.ink == Ink::number ? 1 : 0;
  EXPECT_GE(marked, 200U);
}

TEST(Layout, AreaFollowsTheShareOfTime) {
  const auto c = report_chart(llama_step());
  for (const auto& m : items<Marker>(lay_out(c, page_surface(1000)))) {
    if (m.point == Marker::kNone) continue;
    const auto& first = c.points.front();
    if (c.points[m.point].share < 0.02) continue;  // those have the least size
    const double largest = page_surface(1000).marker_most * std::sqrt(first.share);
    EXPECT_NEAR(m.radius * m.radius / (largest * largest), c.points[m.point].share / first.share, 1e-9);
  }
}

TEST(Layout, PointsUnderTheRoofStayUnderItsLine) {
  const auto c = report_chart(llama_step());
  const auto ranges = data_ranges(c);
  for (const auto& p : c.points) {
    if (!p.intensity) continue;
    EXPECT_LT(*p.flops_per_s, *p.intensity * 3.352e12);
    EXPECT_GT(*p.intensity, ranges.x_low);
    EXPECT_LT(*p.intensity, ranges.x_high);
  }
}

TEST(Layout, GainArrowsEndOnTheRoofThatBinds) {
  const auto scene = lay_out(report_chart(llama_step()), page_surface(1000));
  std::vector<Line> roofs;
  std::vector<Line> gains;
  for (const auto& l : items<Line>(scene)) {
    if (l.ink == Ink::roof && scene.plot.contains(l.points.front())) roofs.push_back(l);
    if (l.ink == Ink::gain && l.arrow) gains.push_back(l);
  }
  ASSERT_GE(gains.size(), 4U);
  for (const auto& g : gains) {
    const auto tip = g.points.back();
    if (!scene.plot.contains(tip)) continue;  // that of the key
    double nearest = 1e9;
    for (const auto& r : roofs) {
      const auto a = r.points.front();
      const auto b = r.points.back();
      const double t = (tip.x - a.x) / (b.x - a.x);
      if (t >= 0 && t <= 1) nearest = std::min(nearest, std::abs(a.y + t * (b.y - a.y) - tip.y));
    }
    EXPECT_LT(nearest, 0.5);
  }
}

// A chart of marks on the strip alone.
Chart strip_chart(std::size_t n) {
  Chart c;
  for (std::size_t i = 0; i < n; ++i) {
    ChartPoint p;
    p.number = i + 1;
    p.label = "kernel " + std::to_string(i);
    p.dram_fraction = 0.4;
    p.fraction = 0.4;
    p.share = p.area = 0.05;
    c.points.push_back(p);
  }
  return c;
}

TEST(Layout, AStripThatHoldsEveryKernelGetsMostOfThePicture) {
  const auto few = lay_out(report_chart(llama_step()), page_surface(1000));
  const auto all = lay_out(strip_chart(30), page_surface(1000));
  EXPECT_LT(few.strip.width(), 200);
  EXPECT_GT(all.strip.width(), 500);
  double before = 0;
  for (const auto& m : items<Marker>(all)) {
    if (m.point == Marker::kNone || m.point == 0) continue;
    EXPECT_GT(m.at.x, before) << "more time stands further to the left";
    before = m.at.x;
  }
}

TEST(Layout, OnTheStripOnlyTheWayToDramIsAGain) {
  auto c = strip_chart(1);
  c.points[0].look = true;
  c.points[0].gain_s = 1e-3;
  const auto arrows = [](const Scene& scene) {
    std::size_t n = 0;
    for (const auto& l : items<Line>(scene)) n += l.ink == Ink::gain && l.arrow && scene.strip.contains(l.points[0]);
    return n;
  };
  EXPECT_EQ(arrows(lay_out(c, page_surface(1000))), 1U);
  c.points[0].fraction = 0.7;  // another roof binds
  EXPECT_EQ(arrows(lay_out(c, page_surface(1000))), 0U);
}

TEST(Layout, UnknownFlopsAreOpenMarksWithoutAnArrow) {
  auto c = strip_chart(1);
  c.points[0].flops_unknown = true;
  for (const auto& m : items<Marker>(lay_out(c, page_surface(1000)))) {
    if (m.point == Marker::kNone) continue;
    EXPECT_TRUE(m.open);
    EXPECT_EQ(m.toward, Toward::nowhere);
  }
}

TEST(Layout, NamesThatLookTheSameOnceTheyAreCutGetTheirNumber) {
  auto c = strip_chart(2);
  for (std::size_t i = 0; i < 2; ++i) {
    c.points[i].label = "kernel" + std::string(80, 'x') + std::to_string(i) + std::string(80, 'x') + "end";
    c.points[i].dram_fraction = 0.2 + 0.5 * static_cast<double>(i);
  }
  std::set<std::string> names;
  for (const auto& t : items<Text>(lay_out(c, page_surface(1000))))
    if (t.ink == Ink::label) names.insert(t.text);
  ASSERT_EQ(names.size(), 2U);
  for (const auto& n : names) EXPECT_THAT(n, ::testing::MatchesRegex(".*end #[12]"));
}

TEST(Layout, RoofNamesLieAlongTheirRoofsAndCoverNoOther) {
  const auto scene = lay_out(hierarchical_chart(tiled_gemm(), 0), page_surface(1000));
  std::size_t slanted = 0;
  for (const auto& t : items<Text>(scene)) {
    if (t.ink != Ink::roof_text || t.along.empty()) continue;
    ++slanted;
    for (const auto& l : items<Line>(scene)) {
      if (l.ink != Ink::roof && l.ink != Ink::cache_roof && l.ink != Ink::datasheet_roof) continue;
      for (const auto& box : t.along) EXPECT_FALSE(crosses(l.points[0], l.points[1], box)) << t.text;
    }
  }
  EXPECT_GE(slanted, 2U);
}

TEST(Layout, ManyKernelsTakeLittleTime) {
  const auto c = report_chart(crowded_step(3000));
  const auto start = std::clock();
  const auto scene = lay_out(c, page_surface(1000));
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20.0);
  EXPECT_GE(items<Marker>(scene).size(), 3000U);
}

TEST(Axis, TicksStandAtPowersOfTen) {
  const LogAxis axis(0.05, 2000, 0, 460);
  EXPECT_EQ(axis.decades(10), (std::vector<int>{-1, 0, 1, 2, 3}));
  EXPECT_EQ(axis.decades(3), (std::vector<int>{0, 2}));
  EXPECT_NEAR(axis.at(0.05), 0, 1e-9);
  EXPECT_NEAR(axis.at(10) - axis.at(1), axis.at(1000) - axis.at(100), 1e-9);
  EXPECT_EQ(decade_text(-2, "", true), "0.01");
  EXPECT_EQ(decade_text(0, "", true), "1");
  EXPECT_EQ(decade_text(4, "", true), "10 k");
  EXPECT_EQ(decade_text(14, "F/s", true), "100 TF/s");
  EXPECT_EQ(decade_text(20, "F/s", true), "1e20 F/s");
}

TEST(Placer, GivesNoPlaceTwiceAndNoneOutside) {
  Placer placer({0, 0, 100, 40}, {2, 10, false});
  std::size_t placed = 0;
  for (int i = 0; i < 40; ++i) placed += placer.place({50, 20}, 3, 30, 10, 2) ? 1 : 0;
  EXPECT_GE(placed, 4U);
  EXPECT_LE(placed, 13U);  // more would not fit
  const auto& boxes = placer.boxes();
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = i + 1; j < boxes.size(); ++j) EXPECT_FALSE(boxes[i].overlaps(boxes[j]));
}

TEST(Geometry, SegmentsAndBoxes) {
  const Box box{10, 10, 20, 20};
  EXPECT_TRUE(crosses({0, 15}, {30, 15}, box));
  EXPECT_TRUE(crosses({12, 12}, {13, 13}, box));
  EXPECT_FALSE(crosses({0, 0}, {30, 5}, box));
  EXPECT_FALSE(crosses({0, 25}, {9, 11}, box));
  EXPECT_FALSE(crosses({0, 15}, {9, 15}, box));
}

TEST(ShownText, IsHarmless) {
  EXPECT_EQ(shown_text("a\x1b[31mb", 40, true), "a\xEF\xBF\xBD[31mb");
  std::string zalgo = "z";
  for (int i = 0; i < 100; ++i) zalgo += "\xCC\x81";
  EXPECT_EQ(shown_text(zalgo + "!", 40, true), "z\xCC\x81\xCC\x81!");
}

}  // namespace
}  // namespace roofline::testing
