import { Segmented } from "./fields.js";

/** A sample document of a view. */
export interface Sample {
  id: string;
  name: string;
  text: string;
}

/** The samples of a view; the open one is marked. */
export function SamplePicker(props: { samples: readonly Sample[]; text: string; onOpen: (text: string) => void }) {
  const { samples, text, onOpen } = props;
  return (
    <Segmented
      label="Sample"
      options={samples.map(({ id, name }) => ({ value: id, name }))}
      value={samples.find((sample) => sample.text === text)?.id ?? ""}
      onValue={(id) => onOpen(samples.find((sample) => sample.id === id)?.text ?? "")}
    />
  );
}
