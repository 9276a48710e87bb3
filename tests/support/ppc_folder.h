/* Small ppc ice folders, for tests. */
#ifndef PPC_FOLDER_H
#define PPC_FOLDER_H

#include "physics/model.h"
#include "tests/support/model_files.h"

/* Good contents of icemodel.par and, for the settings without features, of cfg.txt. */
#define PPC_PARAMETERS "0.9 0.1\n1.1 0.1\n6954.1 0\n6617.75 0\n"
#define PPC_SETTINGS   "5\n0.99\n0.45\n0.9\n"

/* Longer contents of cfg.txt: PPC_FLOW adds a flow with anisotropy of scattering, PPC_ALL adds
 * every feature. PPC_HOLE and PPC_CRYSTALS are the parts of PPC_ALL for hole ice and birefringence.
 */
#define PPC_FLOW PPC_SETTINGS "216 # flow\n0.04\n-0.08\n"
#define PPC_HOLE "0.5\n0.03\n100\n0.25\n0.8\n"
#define PPC_CRYSTALS                                                                               \
    "0.076795\n544284.545166\n2.229494\n0.002624\n0.077381\n1547618.883526\n2.449589\n0.002505\n"  \
    "0.000995\n0.248264\n2.354436\n1.680717\n"
#define PPC_ALL PPC_FLOW PPC_HOLE "0.6\n-0.3\n-0.3\n0.5\n" PPC_CRYSTALS

/* The birefringence of PPC_CRYSTALS, which is also that of the real ice models. */
extern const ice_birefringence ppc_crystals;

/* Writes icemodel.par, cfg.txt and icemodel.dat into the folder; a file whose content is NULL is
 * left out. Fails the test on errors. */
void ppc_folder_write(const model_folder *folder, const char *par, const char *cfg,
                      const char *dat);

#endif
