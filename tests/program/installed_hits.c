/* Writes the hits of a configuration's own light to standard output, the bytes of a hit file's
 * rows. */
#include <icestream.h>

int main(int argc, char **argv)
{
    icestream_error error = {0};
    icestream_config *config;
    icestream_session *session;
    icestream_submission work = {.size = sizeof work};
    icestream_hit *hits;
    uint64_t ticket, finished, count;

    if (argc != 2 || icestream_config_load(argv[1], NULL, 0, &config, &error) ||
        icestream_session_open(config, NULL, &session, &error) ||
        icestream_session_submit(session, &work, &ticket, &error) ||
        icestream_session_wait(session, ticket, -1, &finished, &error) ||
        icestream_session_take(session, ticket, &hits, &count, NULL, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return icestream_status_exit(error.status);
    }
    fwrite(hits, sizeof *hits, count, stdout);
    icestream_hits_free(hits);
    icestream_session_destroy(session);
    icestream_config_destroy(config);
    return 0;
}
