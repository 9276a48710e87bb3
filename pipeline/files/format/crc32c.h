/* CRC-32C (Castagnoli, as in iSCSI), over libisal. */
#ifndef IS_CRC32C_H
#define IS_CRC32C_H

#include <isa-l/crc.h>

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum: crc = 0 to start; is_crc32c(0, "123456789", 9) == 0xE3069283. */
static inline uint32_t is_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    enum { PIECE = 1 << 30 }; /* libisal takes an int */
    const unsigned char *next = bytes;
    crc = ~crc;
    while (size > 0) {
        int piece = size < PIECE ? (int)size : PIECE;
        crc = crc32_iscsi((unsigned char *)(uintptr_t)next, piece, crc);
        next += piece;
        size -= (size_t)piece;
    }
    return ~crc;
}

#endif
