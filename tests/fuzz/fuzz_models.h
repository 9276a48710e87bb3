/* What fuzz targets of models share: the promises that a module type keeps (physics/model.h), and
 * six modules. */
#ifndef FUZZ_MODELS_H
#define FUZZ_MODELS_H

#include "physics/model.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

enum { FUZZ_MODULES = 6 };

static inline bool is_unit(double x, double y, double z, double w)
{
    return fabs(x * x + y * y + z * z + w * w - 1) < 1e-3;
}

static inline void check_type(const ice_module_type *type)
{
    require(type->name != NULL && type->shape < ICE_SHAPE_COUNT && type->oversize >= 1);
    require(type->radius > 0 && type->radius <= 10);
    require(type->half_height > 0 && type->half_height <= 10);
    require(isfinite(type->reach) && type->reach > 0 && type->reach <= 15);
    require(((type->beta >= 0 && type->beta <= 1) || (type->beta >= -1000 && type->beta < -1)) &&
            type->pmt_count <= ICE_PMTS_MAX);
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        require(is_unit(pmt->axis[0], pmt->axis[1], pmt->axis[2], 0));
        for (int c = 0; c < 3; ++c) {
            require(fabs(pmt->centre[c]) <= type->reach * 1.01 + 1e-6);
        }
        require(pmt->efficiency >= 0 && pmt->radius >= 0);
    }
}

/* Modules 1 to 3 of the strings 1 and 2. */
static inline void make_modules(ice_module modules[FUZZ_MODULES])
{
    for (uint16_t i = 0; i < FUZZ_MODULES; ++i) {
        modules[i] = (ice_module){.string = 1 + i / 3, .module = 1 + i % 3, .efficiency = 1};
    }
}

#endif
