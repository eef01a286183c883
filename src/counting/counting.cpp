#include "roofline/counting.h"
