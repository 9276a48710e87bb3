/* Fair shares between clients: whose message is computed next.
 *
 * Start-time fair queueing. Every message has a virtual start, in photons: the end of the client's
 * message before it, or the virtual time of the listener if that is later. The end is the start and
 * the cost. The virtual time is the least start of all messages that were not released. The message
 * with the least start is computed next; the start is part of the name of the message's file, so
 * the order is that of the names, and needs no other record. A client with small messages so gets
 * as many photons as one with large ones, and a client that was idle saves up no share.
 */
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/new.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/production/source/listener_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS_BYTES = 1 << 20 }; /* read at a time */

/* The virtual time: the least start of the messages that are not released. */
static uint64_t virtual_time(const ics_listener *listener)
{
    uint64_t least = UINT64_MAX;
    for (const ics_client *client = listener->first; client != NULL; client = client->next) {
        if (client->unreleased > 0 && client->tags[0] < least) {
            least = client->tags[0];
        }
    }
    return least != UINT64_MAX ? least : listener->served;
}

uint64_t ics_listener_shares_tag(const ics_client *client)
{
    const uint64_t now = virtual_time(client->listener);
    return client->next_tag > now ? client->next_tag : now;
}

void ics_listener_shares_add(ics_client *client, uint64_t tag, uint64_t cost)
{
    client->tags[client->unreleased++] = tag;
    client->next_tag = tag + cost;
}

void ics_listener_shares_release(ics_client *client)
{
    ics_listener *listener = client->listener;
    if (client->unreleased == 0) {
        return;
    }
    listener->served = client->tags[0] > listener->served ? client->tags[0] : listener->served;
    client->unreleased--;
    memmove(client->tags, client->tags + 1, client->unreleased * sizeof *client->tags);
}

/* Adds up the photons of the rows in `bytes`. */
static uint64_t add_photons(const ics_npy_field *field, const unsigned char *bytes, size_t rows,
                            size_t row_bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rows; ++i) {
        uint32_t photons;
        memcpy(&photons, bytes + i * row_bytes + field->offset, sizeof photons);
        sum += photons;
    }
    return sum;
}

static uint64_t read_photons(int descriptor, const ics_npy_header *header,
                             const ics_npy_field *field)
{
    const size_t at_a_time = ROWS_BYTES / header->row_bytes;
    ICS_FREES unsigned char *bytes = ICS_NEW_ARRAY(unsigned char, ROWS_BYTES);
    uint64_t sum = 0, done = 0;
    while (done < header->rows) {
        const uint64_t left = header->rows - done;
        const size_t rows = left < at_a_time ? (size_t)left : at_a_time;
        const size_t size = rows * header->row_bytes;
        const off_t at = (off_t)(header->header_bytes + done * header->row_bytes);
        if (pread(descriptor, bytes, size, at) != (ssize_t)size) {
            break;
        }
        sum += add_photons(field, bytes, rows, header->row_bytes);
        done += rows;
    }
    return sum;
}

/* The field `photons`, if it is a number of four bytes, as in every step file of icestream. */
static const ics_npy_field *find_photons(const ics_npy_header *header)
{
    for (size_t i = 0; i < header->field_count; ++i) {
        const ics_npy_field *field = &header->fields[i];
        if (strcmp(field->name, "photons") == 0 && field->type.bytes == sizeof(uint32_t) &&
            field->offset + sizeof(uint32_t) <= header->row_bytes) {
            return field;
        }
    }
    return NULL;
}

static uint64_t cost_of(int descriptor, const unsigned char *bytes, size_t size, uint64_t otherwise,
                        uint64_t *photons)
{
    ics_npy_header header = {.rows = 0};
    size_t header_size = 0;
    uint64_t cost = otherwise;
    if (ics_npy_header_size("", bytes, size, &header_size, NULL) != ICESTREAM_OK ||
        header_size > size ||
        ics_npy_parse("", bytes, header_size, &header, NULL) != ICESTREAM_OK) {
        return otherwise;
    }
    const ics_npy_field *field = find_photons(&header);
    if (field != NULL) {
        *photons = read_photons(descriptor, &header, field);
        cost = 1 + header.rows + *photons;
    }
    ics_npy_header_free(&header);
    return cost;
}

uint64_t ics_listener_shares_cost(const char *path, uint64_t *photons)
{
    ICS_FREES unsigned char *head =
        ICS_NEW_ARRAY(unsigned char, ICS_MESSAGE_HEADER_MAX + ICS_NPY_PREAMBLE);
    struct stat about = {.st_size = 0};
    uint64_t cost = 1;
    *photons = 0;
    const char *why;
    const int descriptor = ics_disk_open_regular(path, &why);
    if (descriptor >= 0 && fstat(descriptor, &about) == 0) {
        const ssize_t size = pread(descriptor, head, ICS_MESSAGE_HEADER_MAX + ICS_NPY_PREAMBLE, 0);
        cost += (uint64_t)about.st_size;
        cost = size > 0 ? cost_of(descriptor, head, (size_t)size, cost, photons) : cost;
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return cost;
}
