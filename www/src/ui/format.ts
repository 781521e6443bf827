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
