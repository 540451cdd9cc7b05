// SPDX-License-Identifier: Apache-2.0
#include "support/pictures/drawing.hpp"

#include <algorithm>
#include <cmath>

#include "support/pictures/style.hpp"
#include "support/pictures/svg_writer.hpp"
#include "support/pictures/ticks.hpp"

namespace plumbline::pictures {
namespace {

constexpr double left = 62, right = picture_width - 22, top = 14, bottom = 274;

double across(double value, const Axis& axis) {
  return left + (right - left) * position(value, axis);
}
double up(double value, const Axis& axis) {
  return bottom - (bottom - top) * position(value, axis);
}

std::string axes(const Picture& picture) {
  std::string out;
  double taken = 0;  // up to where the numbers below the axis have come
  for (const double value : ticks(picture.x)) {
    const double x = across(value, picture.x);
    const std::string text = tick_text(value, picture.x);
    out += line("grid", x, top, x, bottom);
    if (!picture.x.at.empty() && x - width_of(text) / 2 < taken + 4) continue;
    out += text_at(x, bottom + 18, "middle", text);
    taken = x + width_of(text) / 2;
  }
  for (const double value : ticks(picture.y)) {
    const double y = up(value, picture.y);
    out += line("grid", left, y, right, y);
    out += text_at(left - 7, y + 4.5, "end", tick_text(value, picture.y));
  }
  out += line("axis", left, bottom, right, bottom) + line("axis", left, top, left, bottom);
  out += text_at((left + right) / 2, bottom + 38, "middle", picture.x.label);
  const double middle = (top + bottom) / 2;
  out += text_at(14, middle, "middle", picture.y.label,
                 fmt::format(" transform=\"rotate(-90 14 {})\"", coordinate(middle)));
  return out;
}

/// A small shape that tells curves apart without their colours.
std::string mark(std::size_t curve, double x, double y) {
  const std::string at = coordinate(x) + " " + coordinate(y);
  switch (curve % 4) {
    case 0:
      return fmt::format("M{}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", at);
    case 1:
      return fmt::format("M{}m-3 -3h6v6h-6z", at);
    case 2:
      return fmt::format("M{}m0 -4l4 7h-8z", at);
    default:
      return fmt::format("M{}m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z", at);
  }
}

std::string colour(std::size_t curve) { return fmt::format("c{}", curve % colour_count); }

/// A path of the curve's line and one of its marks, in its colour; none of what is empty.
std::string line_and_marks(const Curve& curve, std::size_t k, const std::string& stroke,
                           const std::string& marks) {
  const bool dashes = curve.mark == Curve::Mark::dashes, points = curve.mark == Curve::Mark::points;
  std::string out;
  if (!points)
    out += fmt::format("<path class=\"curve {}{}\" d=\"{}\"/>", colour(k), dashes ? " dashes" : "",
                       stroke);
  if (!marks.empty()) out += fmt::format("<path class=\"points {}\" d=\"{}\"/>", colour(k), marks);
  return out;
}

std::string shape(const Picture& picture, std::size_t k) {
  const Curve& curve = picture.curves[k];
  const bool marked = curve.mark == Curve::Mark::marked_line;
  std::string path, marks;
  bool pen_down = false;
  for (std::size_t n = 0; n < curve.x.size(); ++n) {
    const double x = across(curve.x[n], picture.x), y = up(curve.y[n], picture.y);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      pen_down = false;
      continue;
    }
    const bool inside = x >= left - 1 && x <= right + 1 && y >= top - 1 && y <= bottom + 1;
    if (inside && (marked || curve.mark == Curve::Mark::points)) marks += mark(k, x, y);
    if (curve.mark == Curve::Mark::points) continue;
    // Far outside is not drawn; the clip path cuts what is near.
    const double height = std::fmin(std::fmax(y, top - 1000), bottom + 1000);
    if (curve.mark == Curve::Mark::steps && pen_down) {
      path +=
          "H" + coordinate((across(curve.x[n - 1], picture.x) + x) / 2) + "V" + coordinate(height);
    }
    path += (pen_down ? "L" : "M") + coordinate(x) + " " + coordinate(height);
    pen_down = true;
  }
  return line_and_marks(curve, k, path, marks);
}

/// Below the axes; as many entries a line as fit.
std::string legend(const Picture& picture, double& height) {
  std::string out;
  double x = left - 40, y = bottom + 62;
  for (std::size_t k = 0; k < picture.curves.size(); ++k) {
    const Curve& curve = picture.curves[k];
    const double width = 34 + width_of(curve.label) + 16;
    if (x > left - 40 && x + width > picture_width) {
      x = left - 40;
      y += 21;
    }
    const bool points = curve.mark == Curve::Mark::points;
    const std::string stroke = points
                                   ? ""
                                   : fmt::format("M{} {}L{} {}", coordinate(x), coordinate(y - 4.5),
                                                 coordinate(x + 28), coordinate(y - 4.5));
    const bool marked = points || curve.mark == Curve::Mark::marked_line;
    out += line_and_marks(curve, k, stroke, marked ? mark(k, x + 14, y - 4.5) : "");
    out += text_at(x + 34, y, "start", curve.label);
    x += width;
  }
  height = y + 12;
  return out;
}

bool has_values(const Curve& curve) {
  return std::ranges::any_of(curve.y, [](double y) { return std::isfinite(y); });
}

}  // namespace

Drawing draw_curves(const Picture& picture) {
  std::string out = fmt::format(
      "<clipPath id=\"clip-{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" "
      "height=\"{}\"/></clipPath>",
      picture.name, coordinate(left), coordinate(top - 2), coordinate(right - left + 2),
      coordinate(bottom - top + 4));
  out += axes(picture);
  out += fmt::format("<g clip-path=\"url(#clip-{})\">", picture.name);
  for (std::size_t k = 0; k < picture.curves.size(); ++k) out += shape(picture, k);
  out += "</g>";
  if (std::ranges::none_of(picture.curves, has_values))
    out += text_at((left + right) / 2, (top + bottom) / 2, "middle", "no values");
  double height = 0;
  out += legend(picture, height);
  return {out, height};
}

}  // namespace plumbline::pictures
