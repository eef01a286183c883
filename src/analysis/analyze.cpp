#include "roofline/analysis.h"
