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

/** Applies a theme and stores it; `system` follows the device. */
export function setTheme(next: Theme): void {
  theme.value = next;
  applyTheme();
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme.value;
}
