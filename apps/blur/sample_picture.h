#pragma once
/// A picture made by code: free of anybody's rights, with edges, texture and smooth parts.

#include "png_file.h"

/// `bits`: 8 or 16; colour. The same size gives the same pixels everywhere.
auto sample_picture(int width, int height, int bits) -> PngPicture;
