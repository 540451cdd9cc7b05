// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/pictures/svg.hpp"

#include <stdexcept>

#include "proofs_checks/pictures/curves.hpp"
#include "proofs_checks/pictures/svg_writer.hpp"

namespace plumbline::proofs_checks {
namespace {

void require(bool condition, const Picture& picture, const std::string& what) {
  if (!condition) throw std::logic_error("picture " + picture.name + ": " + what);
}

void check(const Picture& picture) {
  require(!picture.name.empty() && !picture.title.empty() && !picture.description.empty(), picture,
          "no name, title or description");
  require(picture.curves.empty() != picture.maps.empty(), picture, "either curves or maps");
  for (const Curve& curve : picture.curves) {
    require(!curve.x.empty() && curve.x.size() == curve.y.size(), picture,
            curve.label + ": as many x as y, and one at least");
  }
  for (const Map& map : picture.maps) require(!map.rows.empty(), picture, map.label + ": no rows");
  if (picture.maps.empty()) {
    for (const Axis& axis : {picture.x, picture.y}) {
      require(axis.from < axis.to, picture, axis.label + ": from is not below to");
      require(!axis.logarithmic || axis.from > 0, picture, axis.label + ": logarithm of 0");
    }
  }
}

}  // namespace

std::string svg(const Picture& picture) {
  check(picture);
  const Drawing drawing = picture.maps.empty() ? draw_curves(picture) : draw_maps(picture);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"title-{} desc-{}\"><title id=\"title-{}\">{}</title>"
      "<desc id=\"desc-{}\">{}</desc>{}</svg>",
      coordinate(picture_width), coordinate(drawing.height), picture.name, picture.name,
      picture.name, escaped_markup(picture.title), picture.name,
      escaped_markup(picture.description), drawing.elements);
}

}  // namespace plumbline::proofs_checks
