import { fetchEarly, fetchFile } from "../../shell/early.js";
import type { TreeFile } from "./open-file.js";
import samples from "./samples.json";

export interface Sample {
  id: string;
  name: string;
  about: string;
  /** A window small enough to require a cut. */
  contextWindow: number;
  /** The initial tip, whose path shows most of the sample's purpose. */
  tip: string;
  /** Whether its tree refers to media. */
  media?: boolean;
}

export const SAMPLES: readonly [Sample, ...Sample[]] = samples as [Sample, ...Sample[]];

const URLS = import.meta.glob<string>("../../../../examples/trees/*.json", {
  query: "?url",
  import: "default",
  eager: true,
});

const urlOf = (name: string): string => URLS[`../../../../examples/trees/${name}.json`] ?? "";

export async function fetchSample(sample: Sample): Promise<Omit<TreeFile, "tip">> {
  const [tree, allMedia] = await Promise.all([
    fetchJson<TreeFile["tree"]>(sample.id),
    sample.media ? fetchJson<TreeFile["media"]>("media") : ({} as TreeFile["media"]),
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
  const sample = id === null ? SAMPLES[0] : SAMPLES.find((one) => one.id === id);
  if (!sample) return;
  fetchEarly(urlOf(sample.id));
  if (sample.media) fetchEarly(urlOf("media"));
}

async function fetchJson<T>(name: string): Promise<T> {
  const response = await fetchFile(urlOf(name));
  if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
  return (await response.json()) as T;
}
