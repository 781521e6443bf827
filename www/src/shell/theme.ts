import { effect, signal } from "@preact/signals";

/** `system` follows the device. */
export type Theme = "system" | "light" | "dark";

const KEY = "ctxweave.theme";

function stored(): Theme {
  try {
    return (localStorage.getItem(KEY) ?? "system") as Theme;
  } catch {
    return "system";
  }
}

export const theme = signal(stored());

// Applies the theme and stores it. An unknown one has no rules, like `system`.
effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
});
