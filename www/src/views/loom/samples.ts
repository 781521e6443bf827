import type { LoomTreeData, Media } from "ctxweave/loom";
import { fetchEarly, fetchFile } from "../../shell/early.js";
import agent from "../../../../examples/trees/agent.json?url";
import lighthouse from "../../../../examples/trees/lighthouse.json?url";
import media from "../../../../examples/trees/media.json?url";
import sources from "../../../../examples/trees/sources.json?url";
import story from "../../../../examples/trees/story.json?url";

export interface Sample {
  id: string;
  name: string;
  about: string;
  url: string;
  /** A window small enough to require a cut. */
  contextWindow: number;
  /** Whether its tree refers to media. */
  media?: true;
  /** The initial tip, whose path shows most of the sample's purpose. */
  tip: string;
}

export const SAMPLES: readonly Sample[] = [
  {
    id: "agent",
    name: "Agent",
    about: "parallel tool calls, reasoning and images",
    url: agent,
    media: true,
    contextWindow: 8192,
    tip: "agent-36",
  },
  {
    id: "story",
    name: "Story",
    about: "a branching story with edits, asides and notes",
    url: story,
    contextWindow: 4096,
    tip: "alice-108",
  },
  {
    id: "sources",
    name: "Sources",
    about: "edges from several nodes at once",
    url: sources,
    media: true,
    contextWindow: 8192,
    tip: "q-12",
  },
  {
    id: "lighthouse",
    name: "Lighthouse",
    about: "several people and models in one tree, for a loom-aware agent",
    url: lighthouse,
    media: true,
    contextWindow: 8192,
    tip: "01KNZ1KSR0X8FZ0SGS9TEEBYY1",
  },
];

/** The window for a user's tree. */
export const OWN_WINDOW = 8192;

export async function fetchSample(sample: Sample): Promise<{ tree: LoomTreeData; media: Record<string, Media> }> {
  const [tree, allMedia] = await Promise.all([
    fetchJson<LoomTreeData>(sample.url),
    sample.media ? fetchJson<Record<string, Media>>(media) : ({} as Record<string, Media>),
  ]);
  // The samples share one file of media; a request includes only what its tree refers to.
  const text = JSON.stringify(tree);
  return {
    tree,
    media: Object.fromEntries(Object.entries(allMedia).filter(([ref]) => text.includes(JSON.stringify(ref)))),
  };
}

/** Starts to fetch the tree that the view will open: the one in the address, or the first. */
export function fetchSampleEarly(id: string | null): void {
  if (id !== null && !SAMPLES.some((sample) => sample.id === id)) return;
  const sample = SAMPLES.find((one) => one.id === id) ?? SAMPLES[0];
  for (const url of sample ? [sample.url, ...(sample.media ? [media] : [])] : []) fetchEarly(url);
}

async function fetchJson<T>(url: string): Promise<T> {
  const response = await fetchFile(url);
  if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
  return (await response.json()) as T;
}
