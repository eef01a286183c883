#include "roofline/profile.h"
