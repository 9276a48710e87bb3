/* A run file for users of other programs. */
#include "pipeline/tools/import/import.h"

#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/models/models.h"

#include <stdlib.h>
#include <string.h>

/* The word for ice.birefringence_subtraction. NULL: the user must say it; the error was added. */
static const char *choose_subtraction(const ics_import_request *request,
                                      const ics_import_folder *folder, icestream_error *error)
{
    if (request->subtraction != NULL) {
        return request->subtraction;
    }
    if (!folder->is_birefringent || folder->has_version) {
        return "auto";
    }
    if (folder->subtraction == NULL) {
        ics_error_add(
            error, ICESTREAM_E_CONFIG,
            "%s: error: found birefringent ice without a file 'version', which is none of "
            "the public models; expected --subtraction constant (its scattering contains "
            "that by crystals, what ppc assumes), scaled (it does, at 400 nm) or none (it "
            "does not)",
            request->folder);
    }
    return folder->subtraction;
}

/* Warns of a word that contradicts what a public model needs. */
static void warn_of_subtraction(const ics_import_request *request, const ics_import_folder *folder)
{
    if (request->subtraction != NULL && folder->subtraction != NULL &&
        strcmp(request->subtraction, folder->subtraction) != 0) {
        fprintf(stderr,
                "warning: --subtraction: found %s, and icemodel.dat of %s is that of %s (by its "
                "numbers), whose scattering needs %s; scattering lengths are wrong otherwise\n",
                request->subtraction, request->folder, folder->known_as, folder->subtraction);
    }
}

/* Warns of what the program of the folder needs, and the folder lacks. */
static void warn_of_missing(bool is_ppc, const ics_import_folder *folder)
{
    const struct {
        bool is_missing;
        const char *file, *key;
    } curves[] = {
        {!folder->has_angular, "as.dat", "detector.angular_acceptance"},
        {is_ppc && !folder->has_wavelengths, "wv.dat", "light.acceptance"},
    };
    for (size_t i = 0; i < sizeof curves / sizeof *curves; ++i) {
        if (curves[i].is_missing) {
            fprintf(stderr,
                    "warning: found no %s in %s, wrote %s: standard, the built-in curve; is the "
                    "folder complete?\n",
                    curves[i].file, folder->path, curves[i].key);
        }
    }
    if (!folder->has_modules) {
        fprintf(stderr,
                "warning: found no geo-f2k in %s, wrote detector.layout: hex86, which is a made "
                "detector; usual: detector.file with the modules of yours\n",
                folder->path);
    }
    if (is_ppc && folder->missing_reference > 0) {
        fprintf(stderr,
                "warning: found no string %d in geo-f2k of %s, from which ppc counts positions "
                "along the tilt (position 0 in tilt.par), wrote no ice.tilt_origin, so that they "
                "are counted from the origin\n",
                folder->missing_reference, folder->path);
    }
}

static int write_text(const char *program, const ics_import_request *request,
                      const ics_import_folder *folder, char **text, icestream_error *error)
{
    size_t size = 0;
    const bool is_ppc = strcmp(program, "ppc") == 0;
    const char *subtraction = is_ppc ? choose_subtraction(request, folder, error) : "auto";
    if (subtraction == NULL) {
        return ICESTREAM_E_CONFIG;
    }
    if (is_ppc && !folder->has_modules) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found no geo-f2k, which ppc reads; expected a folder with "
                             "the modules of the detector",
                             request->folder);
    }
    FILE *out = open_memstream(text, &size);
    if (out == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "import: error: out of memory");
    }
    if (is_ppc) {
        ics_import_write_ppc(folder, subtraction, out);
    } else {
        ics_import_write_clsim(folder, out);
    }
    const bool failed = ferror(out) != 0;
    return fclose(out) != 0 || failed
               ? ics_error_add(error, ICESTREAM_E_MEMORY, "import: error: out of memory")
               : ICESTREAM_OK;
}

/* Loads the text and its models, so that a file that was written is valid. */
static int check_text(const char *output, const char *text, icestream_error *error)
{
    icestream_config *config = NULL;
    ics_models *models = NULL;
    int status = ics_config_load_text(strcmp(output, "-") == 0 ? "run.yaml" : output, text,
                                      strlen(text), NULL, 0, &config, error);
    if (status == ICESTREAM_OK) {
        status = ics_config_check_files(config, "particles.", error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_models_create(config, &models, error);
    }
    ics_models_destroy(models);
    icestream_config_destroy(config);
    return status;
}

static int store(const ics_import_request *request, const char *text, icestream_error *error)
{
    if (strcmp(request->output, "-") == 0) {
        return fputs(text, stdout) < 0 || fflush(stdout) != 0
                   ? ics_error_set(error, ICESTREAM_E_OUTPUT, "standard output: cannot be written")
                   : ICESTREAM_OK;
    }
    ics_output *output = NULL;
    int status = ics_output_create(request->output, request->force, &output, error);
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, text, strlen(text), error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    return status;
}

int ics_import_run_file(const char *program, const ics_import_request *request,
                        icestream_error *error)
{
    ics_import_folder folder;
    char *text = NULL;
    int status = ics_import_folder_read(request, &folder, error);
    if (status == ICESTREAM_OK) {
        status = write_text(program, request, &folder, &text, error);
    }
    if (status == ICESTREAM_OK && text != NULL) {
        status = check_text(request->output, text, error);
        status = status == ICESTREAM_OK ? store(request, text, error) : status;
    }
    if (status == ICESTREAM_OK) {
        warn_of_subtraction(request, &folder);
        warn_of_missing(strcmp(program, "ppc") == 0, &folder);
    }
    ics_import_folder_free(&folder);
    free(text);
    return status;
}
