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
import { FRAME_CLASSES } from "./frame.js";
import { currentView } from "./route.js";
import { theme } from "./theme.js";
import { VIEW_LIST } from "./view-list.js";

const viewNow = () => VIEW_LIST.find(({ id }) => id === currentView()) ?? VIEW_LIST[0];

/** The frame around every view: the name, the navigation, and the theme. */
export function App() {
  const [view, setView] = useState(viewNow);
  useEvents({ hashchange: () => setView(viewNow()) });
  return (
    <>
      <a
        class="skip absolute -top-20 left-2 z-10 rounded-s bg-accent px-3 py-1.5 text-accent-ink focus:top-2"
        href="#main"
        onClick={skipToResult}
      >
        Skip to the assembled prompt
      </a>
      <header class={FRAME_CLASSES.top}>
        <a class={FRAME_CLASSES.brand} href={`#/${VIEW_LIST[0].id}`} aria-label="ctxweave, start">
          <Icon name="weave" />
          <span class={FRAME_CLASSES.name}>ctxweave</span>
        </a>
        <nav class={FRAME_CLASSES.nav} aria-label="Views">
          <ul class={FRAME_CLASSES.list}>
            {VIEW_LIST.map(({ id, name }) => (
              <li key={id}>
                <a href={`#/${id}`} aria-current={id === view.id ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <RecentMenu />
        <span class="font-mono text-xs text-ink-3 max-[621px]:hidden" title="Version of the package">
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

const THEMES = [
  { value: "system", name: "Theme of the device", icon: "auto" },
  { value: "light", name: "Light theme", icon: "sun" },
  { value: "dark", name: "Dark theme", icon: "moon" },
] as const;

function ThemePicker() {
  return (
    <div class="segmented icons" role="group" aria-label="Theme">
      {THEMES.map(({ value, name, icon }) => (
        <IconButton
          key={value}
          icon={icon}
          label={name}
          title={name}
          aria-pressed={theme.value === value}
          onClick={() => (theme.value = value)}
        />
      ))}
    </div>
  );
}
