/* The file of a checkpoint: shared by checkpoint.c, which writes it, and those that read it. The
 * layout is in files.md 6.4. */
#ifndef ICS_PRODUCTION_CHECKPOINT_STATE_H
#define ICS_PRODUCTION_CHECKPOINT_STATE_H

#include "pipeline/production/checkpoint/checkpoint.h"

struct ics_checkpoint {
    char *path;
    int file;         /* descriptor */
    int rows_file;    /* descriptor of the file with the rows of records; -1: there is none */
    bool ours;        /* this process has the lock */
    bool has_sums;    /* the rows are sums of hits (files/hit_bins.h) */
    uint64_t records; /* where the first record begins (bytes) */
    uint64_t end;     /* where the next record begins (bytes) */
};

/* The beginning of the file. The origin follows, as JSON. */
typedef struct ics_checkpoint_header {
    char magic[8];
    uint32_t length; /* length of the origin (bytes) */
    uint32_t crc32c; /* checksum of the origin */
} ics_checkpoint_header;

/* The beginning of a record. Intervals, hits and the tail follow. If the hits are rows of another
 * file, their description follows instead of the hits. */
typedef struct ics_checkpoint_head {
    char magic[4];
    uint32_t maths; /* ics_maths_used */
    uint64_t intervals, hits;
    icestream_account account;
    uint32_t kernels; /* the code of ics_kernels */
    uint32_t crc32c;  /* checksum of the bytes before */
} ics_checkpoint_head;

typedef struct ics_checkpoint_tail {
    uint32_t crc32c; /* checksum of the intervals, and of the hits or their description */
    char magic[4];
} ics_checkpoint_tail;

_Static_assert(sizeof(ics_checkpoint_header) == 16 && sizeof(icestream_account) == 72 &&
                   sizeof(ics_checkpoint_head) == 104 && sizeof(ics_checkpoint_tail) == 8 &&
                   sizeof(ics_photon_interval) == 16 && sizeof(ics_checkpoint_rows) == 16,
               "records of files.md 6.4");

#define ICS_CHECKPOINT_MAGIC "ICSCHKP1"
#define ICS_CHECKPOINT_HEAD  "PART"
#define ICS_CHECKPOINT_ROWS  "ROWS" /* a head whose hits are rows of another file */
#define ICS_CHECKPOINT_TAIL  "GOOD"

enum {
    ICS_CHECKPOINT_ORIGIN = 1 << 16,   /* longest origin (bytes) */
    ICS_CHECKPOINT_INTERVALS = 1 << 20 /* most intervals in a record */
};

/* A member of the header that no hit depends on: which step file it is, and where the file was
 * begun. */
#define ICS_CHECKPOINT_WRITTEN "written_by"

/* Whether an open file begins like a checkpoint, with at least `least` bytes of the magic text. A
 * file without a byte may be one as well: its writer was killed before it wrote the header. */
bool ics_checkpoint_begins(int file, size_t least);
/* Reads the header. Sets checkpoint->records; *out belongs to the caller. ICESTREAM_E_INPUT: the
 * file is no checkpoint, or its header is damaged; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_checkpoint_read_origin(ics_checkpoint *checkpoint, json_t **out, icestream_error *error);
/* Whether the head is one of a record of which all bytes are in the `left` bytes of the file that
 * begin with it. */
bool ics_checkpoint_head_is_good(const ics_checkpoint_head *head, uint64_t left);
/* Whether the hits of the record are rows of another file. */
bool ics_checkpoint_has_rows(const ics_checkpoint_head *head);
/* Opens the file of the rows, if there is one. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_checkpoint_open_rows(ics_checkpoint *checkpoint, icestream_error *error);
/* The bytes of a record. */
uint64_t ics_checkpoint_record_size(const ics_checkpoint_head *head);

/* An error of the file, with the cause in errno. Returns ICESTREAM_E_OUTPUT. */
int ics_checkpoint_failed(const ics_checkpoint *checkpoint, const char *what,
                          icestream_error *error);

/* Reads `size` bytes at `offset`. ICESTREAM_E_INPUT: the file ends before; ICESTREAM_E_OUTPUT. */
int ics_checkpoint_read(const ics_checkpoint *checkpoint, uint64_t offset, void *bytes, size_t size,
                        icestream_error *error);
/* Reads `count` hits, from the hit `first` of the record at `offset` on: from the checkpoint, or
 * from the file of its rows. The errors of ics_checkpoint_read. */
int ics_checkpoint_read_hits(const ics_checkpoint *checkpoint, uint64_t offset,
                             const ics_checkpoint_head *head, uint64_t first, icestream_hit *hits,
                             size_t count, icestream_error *error);

#endif
