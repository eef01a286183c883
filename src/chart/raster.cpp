#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "roofline/chart.h"

namespace roofline {
namespace {

struct Unref {
  void operator()(RsvgHandle* h) const { g_object_unref(h); }
  void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
  void operator()(cairo_t* c) const { cairo_destroy(c); }
};
using Handle = std::unique_ptr<RsvgHandle, Unref>;
using SurfacePtr = std::unique_ptr<cairo_surface_t, Unref>;
using ContextPtr = std::unique_ptr<cairo_t, Unref>;

// CSS pixels per inch, and the points per inch of a PDF.
constexpr double kCssPixels = 96;
constexpr double kPoints = 72;

// Takes over a GError as an exception.
[[noreturn]] void fail(const char* what, GError* error) {
  const std::string message = error != nullptr ? error->message : "unknown reason";
  if (error != nullptr) g_error_free(error);
  throw std::runtime_error(fmt::format("cannot draw the chart: {}: {}", what, message));
}

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("cannot draw the chart: {}", cairo_status_to_string(status)));
}

struct Picture {
  Handle handle;
  double width = 0, height = 0;  // CSS pixels
};

Picture load(const std::string& svg) {
  GError* error = nullptr;
  Picture out;
  // Long lists make long files; the limits of the XML parser are for untrusted ones.
  GInputStream* stream = g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr);
  out.handle.reset(rsvg_handle_new_from_stream_sync(stream, nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &error));
  g_object_unref(stream);
  if (!out.handle) fail("reading the SVG", error);
  rsvg_handle_set_dpi(out.handle.get(), kCssPixels);
  if (rsvg_handle_get_intrinsic_size_in_pixels(out.handle.get(), &out.width, &out.height) == FALSE)
    fail("the SVG has no size", nullptr);
  return out;
}

void draw(const Picture& picture, cairo_t* context) {
  GError* error = nullptr;
  const RsvgRectangle all = {0, 0, picture.width, picture.height};
  if (rsvg_handle_render_document(picture.handle.get(), context, &all, &error) == FALSE) fail("drawing the SVG", error);
  check(cairo_status(context));
}

cairo_status_t append(void* out, const unsigned char* data, unsigned int size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
}

// The largest scale up to `scale` at which cairo can hold the picture.
double possible_scale(const Picture& picture, double scale) {
  constexpr double kMostPixels = 32000;
  return std::min(scale, kMostPixels / std::max(picture.width, picture.height));
}

}  // namespace

std::string to_png(const Chart& chart, double scale) { return svg_to_png(to_svg(chart, {SvgTheme::light}), scale); }

std::string svg_to_png(const std::string& svg, double scale) {
  const auto picture = load(svg);
  scale = possible_scale(picture, scale);
  const SurfacePtr surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                      static_cast<int>(std::ceil(picture.width * scale)),
                                                      static_cast<int>(std::ceil(picture.height * scale))));
  check(cairo_surface_status(surface.get()));
  const ContextPtr context(cairo_create(surface.get()));
  // The picture may end within the last row of pixels.
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  cairo_scale(context.get(), scale, scale);
  draw(picture, context.get());
  std::string out;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &out));
  return out;
}

std::string to_pdf(const Chart& chart) { return svg_to_pdf(to_svg(chart, {SvgTheme::light}), chart.title); }

std::string svg_to_pdf(const std::string& svg, const std::string& title) {
  constexpr double kScale = kPoints / kCssPixels;
  const auto picture = load(svg);
  std::string out;
  const SurfacePtr surface(
      cairo_pdf_surface_create_for_stream(append, &out, picture.width * kScale, picture.height * kScale));
  check(cairo_surface_status(surface.get()));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  {
    const ContextPtr context(cairo_create(surface.get()));
    cairo_scale(context.get(), kScale, kScale);
    draw(picture, context.get());
    cairo_show_page(context.get());
  }
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  return out;
}

}  // namespace roofline
