import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "ctxweave.theme";

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = signal<Theme>(stored());

/** Shows a theme and remembers it; `system` follows the device again. */
export function setTheme(next: Theme): void {
  theme.value = next;
  applyTheme();
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice holds until the page is left.
  }
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}
