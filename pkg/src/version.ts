/** The version of this package; the module that is loaded must have the same. A test compares it with Cargo.toml. */
export const version = "0.1.0";
