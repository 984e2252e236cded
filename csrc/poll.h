/* Long work asks now and then whether to continue. */
#ifndef EVK_POLL_H
#define EVK_POLL_H

#include <stddef.h>

typedef struct evk_poll {
    int (*ask)(const void *data); /* other than 0: no */
    const void *data;
    size_t interval, done; /* multiplications from one question to the next, and since the last */
} evk_poll;

/* 1 where the caller is to end at once, after so many more multiplications. Without a question where poll is NULL. */
static inline int evk_poll_ends(evk_poll *poll, size_t work)
{
    if (poll == NULL || (poll->done += work) < poll->interval)
        return 0;
    poll->done = 0;
    return poll->ask(poll->data) != 0;
}

#endif
