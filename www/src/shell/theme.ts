import { effect, signal } from "@preact/signals";

/** `system` follows the device. */
export type Theme = "system" | "light" | "dark";

const KEY = "ctxweave.theme";

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

export const theme = signal(stored());

// Applies the theme and stores it.
effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
});
