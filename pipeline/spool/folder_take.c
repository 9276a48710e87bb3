/* Claiming files: first those that were left behind (folder_adopt.c), then those that wait. */
#include "base/error.h"
#include "pipeline/spool/folder_state.h"

/* Claims waiting files. The list of one scan is used up before the next scan, so that a folder with
 * 1e5 files is not read for every claim. In the order of names, a newer file may come before the
 * rest of the list, so the folder is read again; it is that of a listener, and has few files. */
static int take_waiting(ics_claim_request *request)
{
    ics_folder *folder = request->folder;
    ics_candidates *waiting = &folder->waiting;
    int status = ICESTREAM_OK;
    if (folder->by_name) {
        ics_folder_candidates_free(waiting);
    }
    for (bool fresh = false; status == ICESTREAM_OK && request->count < request->most;) {
        if (waiting->next == waiting->count) {
            if (fresh || ics_folder_is_unchanged(folder)) {
                break;
            }
            ics_folder_candidates_free(waiting);
            status = ics_folder_scan(folder, waiting, request->error);
            fresh = true;
            continue;
        }
        const char *name = waiting->items[waiting->next++].name;
        if (ics_folder_held(folder, name) == NULL) {
            ics_claimable what = {
                .from = ics_spool_path_join(folder->directory, name), .name = name, .attempt = 1};
            status = ics_folder_claim(request, &what);
        }
    }
    return status;
}

int ics_folder_take(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error)
{
    ics_folder *folder = self;
    icestream_error found = {.status = ICESTREAM_OK};
    ics_claim_request request = {.folder = folder, .most = most, .out = out, .error = &found};
    int status = ics_folder_beat(folder, &found);
    if (status == ICESTREAM_OK && folder->left_at_home) {
        status = ics_folder_adopt_own(&request);
    }
    if (status == ICESTREAM_OK && request.count < most) {
        status = ics_folder_adopt_dead(&request);
    }
    if (status == ICESTREAM_OK && request.count < most) {
        status = take_waiting(&request);
    }
    *count = request.count;
    return *count > 0 || status == ICESTREAM_OK ? ICESTREAM_OK : ics_error_copy(error, &found);
}
