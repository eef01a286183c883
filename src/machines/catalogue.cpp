#include "roofline/machines.h"
