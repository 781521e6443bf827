/** The areas of the package that the reader uses, each loaded in its worker on first use. */

import chatUrl from "ctxweave/chat/ctxweave.wasm?url";
import commitsUrl from "ctxweave/commits/ctxweave.wasm?url";
import importUrl from "ctxweave/import/ctxweave.wasm?url";
import loomUrl from "ctxweave/loom/ctxweave.wasm?url";

/** Initializes an area once. */
const once = <Area extends { init: (module: Promise<Response>) => Promise<void> }>(
  load: () => Promise<Area>,
  url: string,
): (() => Promise<Area>) => {
  let loaded: Promise<Area> | undefined;
  return () =>
    (loaded ??= (async () => {
      const module = fetch(url);
      const area = await load();
      await area.init(module);
      return area;
    })());
};

export const chatArea = once(() => import("ctxweave/chat"), chatUrl);
export const commitsArea = once(() => import("ctxweave/commits"), commitsUrl);
export const importArea = once(() => import("ctxweave/import"), importUrl);
export const loomArea = once(() => import("ctxweave/loom"), loomUrl);
