/* Parts of f2k files that several tests need. */
#ifndef LIST_TEXT_H
#define LIST_TEXT_H

#define FRAME_BEGIN "V 2000.1.2\nTBEGIN ? ? ?\n"
#define FRAME_END   "TEND ? ? ?\nEND\n"

#endif
