/** The areas of the package that the reader uses, each loaded in its worker on first use. */

import chatUrl from "ctxweave/chat/ctxweave.wasm?url";
import commitsUrl from "ctxweave/commits/ctxweave.wasm?url";
import importUrl from "ctxweave/import/ctxweave.wasm?url";
import loomUrl from "ctxweave/loom/ctxweave.wasm?url";
import { once } from "../ui/once.js";

const area = <Area extends { init: (module: Promise<Response>) => Promise<void> }>(
  load: () => Promise<Area>,
  url: string,
): (() => Promise<Area>) =>
  once(async () => {
    const module = fetch(url);
    const loaded = await load();
    await loaded.init(module);
    return loaded;
  });

export const chatArea = area(() => import("ctxweave/chat"), chatUrl);
export const commitsArea = area(() => import("ctxweave/commits"), commitsUrl);
export const importArea = area(() => import("ctxweave/import"), importUrl);
export const loomArea = area(() => import("ctxweave/loom"), loomUrl);
