#include "roofline/metrics.h"
