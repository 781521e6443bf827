/** The version of this package; the loaded module must have the same. A test compares it with Cargo.toml. */
export const version = "0.1.0";
