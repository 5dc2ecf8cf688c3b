mod plain {}

fn main() {
    torch_library::register!(plain);
}
