/* A libcupti that lacks nearly all functions, as an old one would. */
int cuptiSubscribe(void);
int cuptiSubscribe(void)
{
    return 0;
}
