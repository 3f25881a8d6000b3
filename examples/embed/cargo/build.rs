use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=layouts");
    println!("cargo:rerun-if-changed=lego-emit.toml");
    let status = Command::new("lego-emit")
        .args(["build", "--out-dir"])
        .arg(env::var_os("OUT_DIR").unwrap())
        .status()
        .expect("lego-emit is not on PATH: pip install its clone");
    assert!(status.success(), "lego-emit build failed");
}
