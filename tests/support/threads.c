#include "tests/support/threads.h"

#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t threads_named(const char *name)
{
    size_t count = 0;
    glob_t found;
    if (glob("/proc/self/task/*/comm", 0, NULL, &found) != 0) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        char line[32] = "";
        FILE *file = fopen(found.gl_pathv[i], "r");
        if (file == NULL) {
            continue; /* the thread has ended */
        }
        if (fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\n")] = 0;
            count += strcmp(line, name) == 0;
        }
        fclose(file);
    }
    globfree(&found);
    return count;
}

bool threads_end(const char *name)
{
    enum { TRIES = 30000 };
    for (int tries = 0; tries < TRIES && threads_named(name) != 0; ++tries) {
        usleep(2000);
    }
    return threads_named(name) == 0;
}
