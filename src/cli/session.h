/* session.h - conversations that are kept in a file: -S FILE */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

/* Tell that they are not there yet.  Gives the exit code. */
int session_refuse(void);

#endif
