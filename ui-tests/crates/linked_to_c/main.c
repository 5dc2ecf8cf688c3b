/* A program in C that calls the library. */
void print_registrations(void);

int main(void) {
    print_registrations();
    return 0;
}
