/* The exit statuses of the program, for help and manual. */
#ifndef ICS_PROGRAM_EXIT_STATUSES_H
#define ICS_PROGRAM_EXIT_STATUSES_H

/* Calls `visit` once for each exit status, with the texts of all results that end with it. */
void ics_exit_statuses_visit(void (*visit)(int exit_status, const char *text));

#endif
