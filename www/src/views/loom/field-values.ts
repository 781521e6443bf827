import type { LoomTreeData } from "ctxweave/loom";
import type { Origin } from "../../ui/fields.js";
import { effective, type EffectivePreferences, type Settings } from "./settings.js";
import { setOrClear, setPreference, settings } from "./state.js";

type OptionalSetting = Parameters<typeof setOrClear>[0];

/** The value of an optional setting for a field, or the fallback if it is unset. */
export function optional<K extends OptionalSetting, Fallback extends Settings[K] | "">(name: K, fallback: Fallback) {
  type Value = NonNullable<Settings[K]> | Fallback;
  return {
    value: (settings.value[name] ?? fallback) as Value,
    onValue: (value: Value) => setOrClear(name, value === fallback ? undefined : (value as Settings[K])),
  };
}

/** The effective value of a preference for a field, its origin, and how it is reset. */
export function preference<K extends keyof EffectivePreferences>(name: K, tree: LoomTreeData) {
  const isSet = settings.value.preferences[name] !== undefined;
  const origin: Origin = isSet ? "set" : tree.preferences?.[name] !== undefined ? "tree" : "default";
  return {
    origin,
    onReset: () => setPreference(name, undefined),
    value: effective(settings.value, tree, name),
    onValue: (value: EffectivePreferences[K]) => setPreference(name, value),
  };
}
