/* The texts of the run files that icestream import writes. */
#include "pipeline/config/yaml/yaml.h"
#include "pipeline/tools/import/import.h"

#include <math.h>

static void write_head(const char *command, const ics_import_folder *folder, FILE *out)
{
    fprintf(out, "# A run in the ice of %s, written by `icestream import %s`.", folder->path,
            command);
    fprintf(
        out,
        "\n"
        "# Change what you like: every key has its reason, and configs/README.md has all keys.\n"
        "#\n"
        "#   icestream validate RUN.yaml      # what was understood\n"
        "#   icestream run RUN.yaml           # makes steps of the particles, and simulates them\n"
        "\n"
        "run:\n"
        "  seed: 1                          # all random numbers\n"
        "\n"
        "sink:\n"
        "  directory: hits/\n"
        "\n");
}

static void write_path(const char *key, const char *path, FILE *out)
{
    fprintf(out, "  %s: ", key);
    ics_yaml_print_text(path, out);
    fprintf(out, "\n");
}

/* Particles from the file, or one cascade to replace. */
static void write_particles(const ics_import_folder *folder, const char *conventions,
                            const char *reason, FILE *out)
{
    fprintf(out, "\nparticles:\n  conventions: %-19s # %s\n", conventions, reason);
    fprintf(out,
            "  losses: none                     # the list contains the energy losses of tracks; "
            "auto\n"
            "                                   # makes those that a bare track lacks\n");
    if (folder->particles != NULL) {
        write_path("file", folder->particles, out);
        fprintf(out, "  format: f2k\n");
        if (folder->counts_events) {
            fprintf(out,
                    "  events: count                    # numbers the events 0, 1, 2, ...: those "
                    "of the\n"
                    "                                   # file do not ascend\n");
        }
        return;
    }
    fprintf(out,
            "  # An example. Replace it by `file: events.f2k`, `.csv` or `.yaml`. z is 0 at the "
            "centre\n"
            "  # of the detector: z = 1948.07 m minus the depth. Energies are in GeV.\n"
            "  list:\n"
            "    - {type: e-, x: 25, y: -60, z: -350, zenith: 50, azimuth: 70, energy: 1000}\n");
}

static void write_tilt_of_ppc(const ics_import_folder *folder, FILE *out)
{
    if (folder->has_line && folder->reference[0] != '\0') {
        fprintf(out,
                "  tilt_origin: %-19.7g # (m) ppc counts positions along the tilt from %s;\n"
                "                                   # the default 0 would shift the tilt by that "
                "much\n",
                folder->tilt_origin, folder->reference);
    }
}

static void write_subtraction(const ics_import_folder *folder, const char *subtraction, FILE *out)
{
    if (!folder->is_birefringent) {
        return;
    }
    if (folder->has_version) {
        fprintf(out,
                "  birefringence_subtraction: auto  # as the file `version` of the folder says\n");
        return;
    }
    fprintf(
        out,
        "  # The folder does not say whether its scattering contains that by crystals. constant: "
        "it\n"
        "  # does, what ppc assumes (BFRM=0); scaled: it does, at 400 nm (BFRM=1); none: it does\n"
        "  # not (BFRM=2).\n");
    fprintf(out, "  birefringence_subtraction: %s", subtraction);
    if (folder->known_as != NULL) {
        fprintf(out, "   # icemodel.dat is that of %s", folder->known_as);
    }
    fprintf(out, "\n");
}

/* A curve that the folder has, or the built-in one. `file` is as.dat or wv.dat. */
static void write_curve(const char *key, bool is_there, const char *file, FILE *out)
{
    fprintf(out, is_there ? "  %s: auto\n" : "  %s: standard\n", key);
    if (!is_there) {
        fprintf(out,
                "  # The folder has no %s, without which ppc ends: this is the built-in curve.\n",
                file);
    }
}

/* The oversize that ppc uses. */
static double oversize_of(const ics_import_folder *folder)
{
    return fmax(1, round(folder->settings.oversize));
}

static void write_detector_of_ppc(const ics_import_folder *folder, FILE *out)
{
    const double oversize = oversize_of(folder);
    fprintf(out,
            "\ndetector:\n"
            "  layout: auto                     # geo-f2k of the folder; its z is counted from the "
            "surface,\n"
            "                                   # hits and particles from 1948.07 m below it\n"
            "  oversize: %-22g # line %zu of cfg.txt, a whole number in ppc\n"
            "  crossing: disc                   # entry bunches hits less (docs/oversize.md)\n",
            oversize, folder->settings.oversize_line);
    fprintf(out,
            "  keep_hit_photons: %-14s # ppc lets photons go on after a hit if the oversize is "
            "above 1\n",
            oversize > 1 ? "true" : "false");
    fprintf(
        out,
        "  # auto: as.dat, eff-f2k, cx.dat, dx.dat and hvs-f2k of the folder, if they are there\n");
    write_curve("angular_acceptance", folder->has_angular, "as.dat", out);
    fprintf(out, "  efficiencies: auto\n"
                 "  axes: auto\n"
                 "  cables: auto\n"
                 "  voltages: auto\n");
    fprintf(out,
            "  excluded: []                     # a module that flashes: [[63, 20]]. It absorbs "
            "light and\n"
            "                                   # records none, as in ppc\n");
}

void ics_import_write_ppc(const ics_import_folder *folder, const char *subtraction, FILE *out)
{
    write_head("ppc", folder, out);
    fprintf(out, "ice:\n");
    write_path("directory", folder->path, out);
    write_tilt_of_ppc(folder, out);
    write_subtraction(folder, subtraction, out);
    fprintf(out,
            "  # anisotropy, birefringence, hole_ice and tilt are on if the folder has them. The\n"
            "  # efficiency of cfg.txt is used.\n");
    if (folder->has_columns && oversize_of(folder) > 1) {
        fprintf(out, "  hole_ice: unscaled               # as in ppc, whose wide modules stick out "
                     "of their\n"
                     "                                   # columns, so that hole ice is nearly "
                     "off. Vertical\n"
                     "                                   # light on a module in a column of 30 cm "
                     "(effective\n"
                     "                                   # scattering 20 cm): 0.875 of that in "
                     "clear ice at\n"
                     "                                   # oversize 5, 0.133 at 2, 0.0074 at 1; 8 "
                     "cm (3 cm):\n"
                     "                                   # 0.991, 0.933, 0.724. Right: true, and "
                     "oversize 1\n");
    }
    write_detector_of_ppc(folder, out);
    fprintf(out, "\nlight:\n");
    if (folder->has_wavelengths) {
        fprintf(out, "  acceptance: auto                 # wv.dat of the folder: light that no "
                     "module would\n"
                     "                                   # detect is not made. Steps belong to "
                     "this choice\n");
    } else {
        write_curve("acceptance", false, "wv.dat", out);
    }
    fprintf(
        out,
        "  high_efficiency: auto            # wv.rde\n"
        "\nstages:\n"
        "  detect: pe                       # hits are photo-electrons, as the HIT lines of ppc\n");
    write_particles(folder, "ppc", "light yields as in ppc (docs/particles.md)", out);
}

/* The modules and what they detect. */
static void write_detector_of_clsim(const ics_import_folder *folder, FILE *out)
{
    fprintf(out, "\ndetector:\n");
    if (folder->has_modules) {
        fprintf(
            out,
            "  layout: auto                     # geo-f2k of the folder. For the modules of a GCD "
            "file:\n");
    } else {
        fprintf(
            out,
            "  layout: hex86                    # NOT your detector: the folder has no modules. "
            "Instead:\n");
    }
    fprintf(out,
            "  # file: modules.csv              # write the I3Geometry as CSV with the columns\n"
            "                                   # string,module,x,y,z,efficiency (m, z as in "
            "I3Geometry)\n"
            "  oversize: 5                      # DOMOversizeFactor, 5 unless you set it\n"
            "  crossing: disc                   # entry bunches hits less (docs/oversize.md)\n"
            "  keep_hit_photons: false          # StopDetectedPhotons is true\n"
            "  angular_acceptance: %-12s # %s\n"
            "  efficiencies: none               # clsim takes them from the calibration, not from "
            "ppc's "
            "files\n"
            "  axes: none\n"
            "  voltages: none\n",
            folder->has_angular ? "auto" : "standard",
            folder->has_angular ? "as.dat of the folder; or a file like it"
                                : "built in, because the folder has no as.dat; or a file like it");
    fprintf(out,
            "  cables: none                     # for the cable shadow of clsim: %s,\n"
            "  cable_length: 1                  # (m) with cables of this length\n",
            folder->has_cables ? "auto (dx.dat)" : "a file like dx.dat");
}

void ics_import_write_clsim(const ics_import_folder *folder, FILE *out)
{
    write_head("clsim", folder, out);
    fprintf(out, "ice:\n");
    write_path("directory", folder->path, out);
    if (folder->has_line) {
        fprintf(
            out,
            "  tilt_origin: 0                   # clsim counts positions along the tilt from 0\n");
    }
    fprintf(
        out,
        "  birefringence: false             # clsim has none\n"
        "  hole_ice: false                  # clsim has hole ice only in the angular acceptance\n");
    write_detector_of_clsim(folder, out);
    fprintf(
        out,
        "\nlight:\n"
        "  acceptance: standard             # the acceptance of the module by wavelength in clsim\n"
        "  high_efficiency: none\n"
        "\nstages:\n"
        "  detect: pe                       # hits are photo-electrons (MCPEs); none: photons\n");
    write_particles(folder, "clsim", "light yields as in clsim (docs/particles.md)", out);
}
