// A library of nothing, under whatever name.
int empty;
