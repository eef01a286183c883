#include "roofline/placement.h"
