/* The stages whose variant may be a user's own header, in the order of lists of such headers. */
#ifndef IS_STAGE_H
#define IS_STAGE_H

typedef enum is_stage {
    IS_STAGE_CREATE,
    IS_STAGE_PROPAGATE,
    IS_STAGE_COLLIDE,
    IS_STAGE_SCATTER,
    IS_STAGES
} is_stage;

#endif
