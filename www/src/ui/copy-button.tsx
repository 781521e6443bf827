import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.js";
import type { IconName } from "./icons.js";

/** A button that shows for some seconds what its action returned, and announces it to screen readers. */
export function ReportingButton(props: {
  label: string;
  icon: IconName;
  title?: string | undefined;
  seconds: number;
  /** It fails if the browser refuses to copy. */
  action: () => Promise<string>;
}) {
  const { label, icon, title, seconds, action } = props;
  const [report, setReport] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setReport(""), seconds * 1000);
    return () => clearTimeout(timer);
  }, [report]);
  return (
    <>
      <Button
        label={report || label}
        icon={report.startsWith("Copied") ? "check" : icon}
        title={title}
        onClick={() => void action().then(setReport, () => setReport("Copying was refused"))}
      />
      <span class="sr-only" role="status">
        {report}
      </span>
    </>
  );
}

/** Copies a text that is created on demand. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const copy = async (): Promise<string> => {
    await navigator.clipboard.writeText(text());
    return "Copied";
  };
  return <ReportingButton label={label} icon="copy" seconds={2} action={copy} />;
}
