#include "drawloom/version.h"

#include <cstring>

int main() { return std::strlen(drawloom::version()) >= 5 ? 0 : 1; }
