/** Which files of a repository the view reads. */

/** Whether a file belongs to the chain of context files. */
export const isContextFile = (path: string): boolean => /(^|\/)(AGENTS|CLAUDE)\.md$/u.test(path);

/** Names that context files and rules have. */
const CONTEXT_NAMES =
  /(^|\/)((AGENTS|CLAUDE|GEMINI|QWEN|CONTEXT)\.md|AGENTS\.override\.md|CLAUDE\.local\.md|opencode\.json)$/u;
const RULE_FOLDERS = /(^|\/)(\.(claude|qwen|clinerules|cursor|kilo|kilocode|continue|kiro|github)\/|\.clinerules$)/u;

/** Whether an agent may load a file. */
export const isAgentFile = (path: string): boolean =>
  CONTEXT_NAMES.test(path) || (RULE_FOLDERS.test(path) && /(\.(md|mdc)|\.clinerules)$/u.test(path));
