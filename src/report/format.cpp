#include "roofline/document.h"
