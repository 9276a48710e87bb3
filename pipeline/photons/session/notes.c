/* The lines that `icestream run` would log. */
#include "pipeline/photons/session/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void ics_session_note(icestream_session *session, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&session->lock);
    const size_t kept = session->notes.count;
    if (kept < ICS_SESSION_NOTES) {
        ics_warnings_add(&session->notes, "%s", text);
    }
    session->notes_lost += session->notes.count == kept;
    pthread_mutex_unlock(&session->lock);
}

void ics_session_note_warnings(icestream_session *session, const ics_warnings *warnings)
{
    for (size_t i = 0; i < warnings->count; ++i) {
        ics_session_note(session, "warning: %s", warnings->items[i]);
    }
}

bool ics_session_next_note(icestream_session *session, char *line, size_t size)
{
    bool found = true;
    pthread_mutex_lock(&session->lock);
    if (session->notes_read < session->notes.count) {
        snprintf(line, size, "%s", session->notes.items[session->notes_read++]);
    } else if (session->notes_lost > 0) {
        snprintf(line, size,
                 "warning: %" PRIu64 " more lines were not kept, because nobody read those before",
                 session->notes_lost);
        session->notes_lost = 0;
    } else {
        found = false;
    }
    if (session->notes_read == session->notes.count) {
        ics_warnings_free(&session->notes);
        session->notes_read = 0;
    }
    pthread_mutex_unlock(&session->lock);
    return found;
}
