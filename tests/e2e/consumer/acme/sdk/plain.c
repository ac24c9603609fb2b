#include <stdio.h>

int main(void) { return puts("plain") < 0; }
