import { filesOf, javascript, literal, rustCall, textContent, type Code } from "../../ui/code.js";
import { exclusive, memoryAnswer, mode, operator, request, xml } from "./state.js";

/** The assembly of the chosen operator's context, as code, from the template. */
export function codeOfOperators(): Code | undefined {
  const at = operator.value;
  const asked = request.value;
  if (!at || !asked) return undefined;
  const { task: _, ...rest } = asked;
  const content = textContent("task.xml", xml.value);
  const inRust = rustCall({ name: "beginContextAssembly", value: asked });
  const fields = "{ type, role, id, description, contextManagement, origins }";
  return {
    javascript: javascript({
      area: "operators",
      uses: ["beginContextAssembly", "explainTask", "finishContextAssembly", "parseTask"],
      lines: [
        `const xml = ${content.javascript};`,
        `const { task } = parseTask(xml, ${literal({ mode: mode.value, exclusive: exclusive.value })});`,
        `const ${fields} = explainTask(task).find(({ path }) => path === ${JSON.stringify(at.path)});`,
        `const begun = beginContextAssembly({ task: ${fields}, ...${literal(rest)} });`,
        "// Your memory system's answer to `begun.text`.",
        `const answer = ${literal(memoryAnswer())};`,
        'const result = begun.status === "match" ? finishContextAssembly(begun.state, answer) : begun.result;',
        "console.log(JSON.stringify(result, null, 2));",
      ],
    }),
    rust: `// If the status is \`match\`, pass its \`state\` and the memory system's answer to \`finishContextAssembly\`.\n${inRust.rust}`,
    files: filesOf(content, inRust),
  };
}
