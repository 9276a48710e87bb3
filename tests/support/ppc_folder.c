#include "tests/support/ppc_folder.h"

const ice_birefringence ppc_crystals = {{0.076795, 544284.545166, 2.229494, 0.002624},
                                        {0.077381, 1547618.883526, 2.449589, 0.002505},
                                        {0.000995, 0.248264, 2.354436, 1.680717}};

void ppc_folder_write(const model_folder *folder, const char *par, const char *cfg, const char *dat)
{
    char path[MODEL_PATH];
    if (par != NULL) {
        model_folder_write(folder, "icemodel.par", par, path);
    }
    if (cfg != NULL) {
        model_folder_write(folder, "cfg.txt", cfg, path);
    }
    if (dat != NULL) {
        model_folder_write(folder, "icemodel.dat", dat, path);
    }
}
