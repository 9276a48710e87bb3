/* Simulates a cascade and prints the string that got the most light. */
#include <icestream.h>
#include <stdlib.h>

static int fail(const icestream_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return icestream_status_exit(error->status);
}

int main(int argc, char **argv)
{
    icestream_error error = {0};
    icestream_config *config;
    icestream_session *session;
    icestream_submission work = {.size = sizeof work}; /* the particles of the configuration */
    icestream_hit *hits;
    uint64_t ticket, finished, count;
    static double light[65536];
    size_t brightest = 0;

    if (icestream_config_load(argc > 1 ? argv[1] : NULL, NULL, 0, &config, &error) ||
        icestream_session_open(config, NULL, &session, &error) ||
        icestream_session_submit(session, &work, &ticket, &error) ||
        icestream_session_wait(session, ticket, -1, &finished, &error) ||
        icestream_session_take(session, ticket, &hits, &count, NULL, &error)) {
        return fail(&error);
    }
    for (uint64_t i = 0; i < count; ++i) {
        light[hits[i].string] += hits[i].weight;
        brightest = light[hits[i].string] > light[brightest] ? hits[i].string : brightest;
    }
    printf("string %zu: %.6g photons of %llu hits\n", brightest, light[brightest],
           (unsigned long long)count);
    icestream_hits_free(hits);
    icestream_session_destroy(session);
    icestream_config_destroy(config);
    return 0;
}
