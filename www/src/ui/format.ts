const whole = new Intl.NumberFormat("en");

/** `12,345` */
export function count(value: number): string {
  return whole.format(value);
}

/** `1 node`, `12 nodes` */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function tokens(value: number): string {
  return plural(value, "token");
}

const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** `2.3` and `2`, with a real minus sign. */
export function decimal(value: number): string {
  // A value shown as 0 has no sign.
  return short.format(Math.abs(value) < 0.05 ? 0 : value).replace("-", "−");
}

/** `+2.3 %`, `−5 %`, `±0 %` */
export function change(percent: number): string {
  const text = decimal(percent);
  return `${text === "0" ? "±" : percent > 0 ? "+" : ""}${text} %`;
}

/** `28 %`, `1.5 %`, `<0.1 %` */
export function share(percent: number): string {
  return percent > 0 && percent < 0.1 ? "<0.1 %" : `${decimal(percent)} %`;
}

/** `0.5 ms`, `37 ms`, `under 0.1 ms` */
export function milliseconds(value: number): string {
  return value < 0.1 ? "under 0.1 ms" : `${value < 10 ? decimal(value) : count(Math.round(value))} ms`;
}
