/** A list of numbers as the wasm gives it: its bytes, four a number. */
export function numbersOf(answer: unknown): Uint32Array<ArrayBuffer> {
  return new Uint32Array((answer as Uint8Array<ArrayBuffer>).buffer);
}
