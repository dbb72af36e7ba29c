#pragma once
/// All that a program needs to write pipelines, schedule them and run them.

#include "drawloom/lang/boundary.h"
#include "drawloom/lang/buffer.h"
#include "drawloom/lang/func.h"
#include "drawloom/lang/operators.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/lang/reduce.h"
#include "drawloom/lang/var.h"
#include "drawloom/version.h"
