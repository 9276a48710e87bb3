#include "pipeline/tools/report/html.h"

#include "base/visible_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void put_escaped(FILE *out, char character)
{
    switch (character) {
    case '&':
        fputs("&amp;", out);
        break;
    case '<':
        fputs("&lt;", out);
        break;
    case '>':
        fputs("&gt;", out);
        break;
    case '"':
        fputs("&quot;", out);
        break;
    case '\'':
        fputs("&#39;", out);
        break;
    default:
        fputc(character, out);
    }
}

void ics_html_text(FILE *out, const char *text)
{
    char visible[ICS_HTML_TEXT];
    if (text == NULL) {
        return;
    }
    ics_visible_text(text, true, visible, sizeof visible);
    for (const char *at = visible; *at != '\0'; ++at) {
        if (*at == '\n') {
            fputc(' ', out);
        } else {
            put_escaped(out, *at);
        }
    }
    if (strlen(text) >= sizeof visible) {
        fputs(" [cut]", out);
    }
}

void ics_html_lines(FILE *out, const char *text)
{
    char line[ICS_HTML_TEXT], visible[ICS_HTML_TEXT];
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        ics_visible_text(line, true, visible, sizeof visible);
        for (const char *at = visible; *at != '\0'; ++at) {
            put_escaped(out, *at);
        }
        fputs(length >= sizeof visible ? " [cut]\n" : "\n", out);
        text += length + (text[length] == '\n');
    }
}

void ics_html_section(FILE *out, const char *anchor, const char *heading)
{
    fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", anchor, heading);
}

void ics_html_section_end(FILE *out)
{
    fputs("</section>\n", out);
}

void ics_html_table(FILE *out, const char *const *headings)
{
    fputs("<div class=\"wide\"><table>\n<thead><tr>", out);
    for (; *headings != NULL; ++headings) {
        const int is_number = **headings == '#';
        fprintf(out, "<th scope=\"col\"%s>%s</th>", is_number ? " class=\"n\"" : "",
                *headings + is_number);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

void ics_html_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void ics_html_row(FILE *out)
{
    fputs("<tr>", out);
}

void ics_html_cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    ics_html_text(out, text);
    fputs("</td>", out);
}

void ics_html_long(FILE *out, const char *text)
{
    fputs("<td class=\"t\">", out);
    ics_html_text(out, text);
    fputs("</td>", out);
}

void ics_html_number(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("<td class=\"n\">", out);
    vfprintf(out, format, arguments);
    fputs("</td>", out);
    va_end(arguments);
}

const char *ics_html_count_text(uint64_t count, char buffer[ICS_HTML_COUNT])
{
    static const char space[] = "\u202f"; /* a narrow space at which no line breaks */
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    const size_t length = strlen(digits);
    size_t used = 0;
    for (size_t i = 0; i < length; ++i) {
        if (i > 0 && length > 4 && (length - i) % 3 == 0) {
            memcpy(buffer + used, space, sizeof space - 1);
            used += sizeof space - 1;
        }
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}

void ics_html_count(FILE *out, uint64_t count)
{
    char buffer[ICS_HTML_COUNT];
    ics_html_number(out, "%s", ics_html_count_text(count, buffer));
}

void ics_html_fold(FILE *out, const char *title, int is_open)
{
    fprintf(out, "<details%s><summary>%s</summary>\n", is_open ? " open" : "", title);
}

void ics_html_fold_end(FILE *out)
{
    fputs("</details>\n", out);
}
