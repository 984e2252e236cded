/* A pack: the numbers that fill a cache line, each in a lane of its own. Every operation acts on all lanes at once. */
#ifndef EVK_PACK_H
#define EVK_PACK_H

enum {
    EVK_PACK_BYTES = 64,
    EVK_LANES_DOUBLE = EVK_PACK_BYTES / sizeof(double),
    EVK_LANES_SINGLE = EVK_PACK_BYTES / sizeof(float)
};

#endif
