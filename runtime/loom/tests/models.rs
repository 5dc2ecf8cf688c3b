//! Runs the models.

#[test]
fn first_calls_race_with_a_registration() {
    [false, true].into_iter().for_each(torch_library_loom::first_calls_race_with_a_registration);
}

#[test]
fn calls_race_with_a_removal() {
    [false, true].into_iter().for_each(torch_library_loom::calls_race_with_a_removal);
}

#[test]
fn names_are_looked_up_while_the_table_grows() {
    torch_library_loom::names_are_looked_up_while_the_table_grows();
}

#[test]
fn visitors_are_out_before_what_they_borrow_ends() {
    torch_library_loom::visitors_are_out_before_what_they_borrow_ends();
}

#[test]
fn leases_keep_readers_and_writers_apart() {
    torch_library_loom::leases_keep_readers_and_writers_apart();
}
