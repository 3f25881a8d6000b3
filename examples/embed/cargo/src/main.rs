mod tiled {
    include!(concat!(env!("OUT_DIR"), "/tiled.rs"));
}

fn main() {
    println!("{}", tiled::apply(1, 2, 0, 3));
}
