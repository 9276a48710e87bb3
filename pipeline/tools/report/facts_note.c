#include "pipeline/tools/report/facts_note.h"

#include "base/json_text.h"

#include <stdarg.h>

void ics_facts_note(ics_facts *facts, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(facts->notes, ics_json_text(text));
}
