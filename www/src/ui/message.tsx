/** A message of the library, in which user input is in backticks. */
export function MessageText({ text, sentence = false }: { text: string; sentence?: boolean }) {
  // Messages begin in lower case and end without a period; as a heading they begin with a capital.
  const shown = sentence ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return <>{shown.split("`").map((piece, i) => (i % 2 === 1 ? <code key={i}>{piece}</code> : piece))}</>;
}
