import { useState } from "preact/hooks";
import { version } from "ctxweave/package.json";
import { IconButton } from "../ui/button.js";
import { AskDialog } from "../ui/ask.js";
import { Drop } from "../ui/drop.js";
import { Icon } from "../ui/icons.js";
import { SHOW_RESULT } from "../ui/panes.js";
import { useEvents } from "../ui/use-events.js";
import { LazyView } from "./lazy-view.js";
import { DroppedItems, RecentMenu } from "./dropped-items.js";
import { currentView } from "./route.js";
import { setTheme, theme, type Theme } from "./theme.js";
import { VIEWS, type View } from "./views.js";

function viewNow(): View {
  const id = currentView();
  return VIEWS.find((view) => view.id === id) ?? VIEWS[0];
}

/** The frame around every view: the name, the navigation, and the theme. */
export function App() {
  const [view, setView] = useState(viewNow);
  useEvents({ hashchange: () => setView(viewNow()) });
  return (
    <>
      <a class="skip" href="#main" onClick={skipToResult}>
        Skip to the assembled prompt
      </a>
      <header class="top">
        <a class="brand" href={`#/${VIEWS[0].id}`} aria-label="ctxweave, start">
          <Icon name="weave" />
          <span class="brand-name">ctxweave</span>
        </a>
        <nav aria-label="Views">
          <ul>
            {VIEWS.map(({ id, name }) => (
              <li key={id}>
                <a href={`#/${id}`} data-name={name} aria-current={id === view.id ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <RecentMenu />
        <span class="version" title="Version of the package">
          {version}
        </span>
        <ThemePicker />
      </header>
      <DroppedItems />
      <main id="main">
        <LazyView view={view} />
      </main>
      <Drop />
      <AskDialog />
    </>
  );
}

/** Views use the hash of the address, so the skip link moves the focus itself. */
function skipToResult(event: Event): void {
  event.preventDefault();
  dispatchEvent(new Event(SHOW_RESULT));
  // On a small screen the result pane has to be shown first.
  requestAnimationFrame(() => {
    // A view that failed or is loading has no result.
    const place = document.getElementById("result") ?? document.getElementById("main");
    if (!place) return;
    place.tabIndex = -1;
    place.focus();
  });
}

const THEMES: readonly { value: Theme; name: string; icon: "auto" | "sun" | "moon" }[] = [
  { value: "system", name: "Theme of the device", icon: "auto" },
  { value: "light", name: "Light theme", icon: "sun" },
  { value: "dark", name: "Dark theme", icon: "moon" },
];

function ThemePicker() {
  return (
    <div class="segmented icons theme" role="group" aria-label="Theme">
      {THEMES.map(({ value, name, icon }) => (
        <IconButton
          icon={icon}
          label={name}
          key={value}
          aria-pressed={theme.value === value}

          title={name}
          onClick={() => setTheme(value)}
        />
      ))}
    </div>
  );
}
