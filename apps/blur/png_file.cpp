#include "png_file.h"

#include <png.h>

#include <cstdio>
#include <stdexcept>

using drawloom::Buffer;

namespace {

/// libpng reports by longjmp unless its error function does not return: ours throws, through C frames that hold nothing.
[[noreturn]] void fail(png_structp png, png_const_charp message) {
  throw std::runtime_error(*static_cast<const std::string*>(png_get_error_ptr(png)) + ": " + message);
}
void ignore(png_structp, png_const_charp) {}

class File {
 public:
  File(const std::string& path, const char* mode) : file_(std::fopen(path.c_str(), mode)) {
    if (!file_) throw std::runtime_error("cannot open " + path);
  }
  File(const File&) = delete;
  ~File() { std::fclose(file_); }
  auto get() const -> std::FILE* { return file_; }

 private:
  std::FILE* file_;
};

struct Reader {
  explicit Reader(std::string& path)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &path, fail, ignore)), info(png_create_info_struct(png)) {}
  Reader(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  png_structp png;
  png_infop info;
};

struct Writer {
  explicit Writer(std::string& path)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &path, fail, ignore)), info(png_create_info_struct(png)) {}
  Writer(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
  png_structp png;
  png_infop info;
};

using Row = std::vector<png_byte>;

auto pixel(const Row& row, size_t at, int bits) -> uint16_t {
  if (bits == 8) return row[at];
  return static_cast<uint16_t>(row[2 * at] << 8 | row[2 * at + 1]);
}

void put_pixel(Row& row, size_t at, int bits, uint16_t value) {
  if (bits == 8) {
    row[at] = static_cast<png_byte>(value);
    return;
  }
  row[2 * at] = static_cast<png_byte>(value >> 8);
  row[2 * at + 1] = static_cast<png_byte>(value & 255);
}

auto read_rows(Reader& in) -> std::vector<Row> {
  std::vector<Row> rows(png_get_image_height(in.png, in.info), Row(png_get_rowbytes(in.png, in.info)));
  std::vector<png_bytep> pointers;
  for (auto& r : rows) pointers.push_back(r.data());
  png_read_image(in.png, pointers.data());
  return rows;
}

}  // namespace

auto read_png(const std::string& path) -> PngPicture {
  std::string name = path;
  const File file(path, "rb");
  Reader in(name);
  png_init_io(in.png, file.get());
  png_read_info(in.png, in.info);
  png_set_expand(in.png);
  png_set_strip_alpha(in.png);
  png_set_interlace_handling(in.png);
  png_read_update_info(in.png, in.info);

  PngPicture out;
  out.width = static_cast<int>(png_get_image_width(in.png, in.info));
  out.height = static_cast<int>(png_get_image_height(in.png, in.info));
  out.bits = png_get_bit_depth(in.png, in.info);
  const auto channels = png_get_channels(in.png, in.info);
  const auto rows = read_rows(in);
  for (size_t c = 0; c < channels; ++c) {
    Buffer<uint16_t> plane(out.width, out.height);
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x)
        plane(x, y) = pixel(rows[static_cast<size_t>(y)], static_cast<size_t>(x) * channels + c, out.bits);
    out.planes.push_back(plane);
  }
  return out;
}

void write_png(const std::string& path, const PngPicture& picture) {
  std::string name = path;
  const File file(path, "wb");
  Writer out(name);
  png_init_io(out.png, file.get());
  const size_t channels = picture.planes.size();
  png_set_IHDR(out.png, out.info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bits, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(out.png, 3);
  png_write_info(out.png, out.info);
  Row row(static_cast<size_t>(picture.width) * channels * static_cast<size_t>(picture.bits / 8));
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x)
      for (size_t c = 0; c < channels; ++c)
        put_pixel(row, static_cast<size_t>(x) * channels + c, picture.bits, picture.planes[c](x, y));
    png_write_row(out.png, row.data());
  }
  png_write_end(out.png, nullptr);
}
