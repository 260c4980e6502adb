// Rules of the memory at work on Pi's tool calls: the bridge says what follows, this carries it out. Nothing here fails a call.
import type { ExtensionAPI, ToolCallEvent, ToolCallEventResult, ToolResultEvent, ToolResultEventResult, TurnEndEvent, TurnEndEventResult } from "@earendil-works/pi-coding-agent";
import type { Memory } from "./memory.ts";
import { asText, isObject, type Json } from "./wire.ts";

const OWN = /^(?:project_memory|memory_\w+|session_search)$/;
const MESSAGE = "noforgetti-rule";
const COMMAND_LIMIT = 60_000; // milliseconds for a command that a rule runs (the reference's figure)
const SHOWN = 4_000; // characters of its output

/** Blocks a call that a rule forbids. */
export async function beforeTool(memory: Memory | undefined, event: ToolCallEvent): Promise<ToolCallEventResult | undefined> {
	if (OWN.test(event.toolName)) return undefined;
	const block = asText((await memory?.rule("tool/call", called(event)))?.block);
	return block ? { block: true, reason: block } : undefined;
}

/** Adds to a result what its rules say, and what their commands printed. */
export async function afterTool(pi: ExtensionAPI, memory: Memory | undefined, event: ToolResultEvent, cwd: string): Promise<ToolResultEventResult | undefined> {
	if (OWN.test(event.toolName)) return undefined;
	const after = await memory?.rule("tool/result", { ...called(event), error: event.isError });
	const texts = [asText(after?.append) ?? ""];
	for (const one of Array.isArray(after?.run) ? after.run.filter(isObject) : []) texts.push(await ran(pi, one, cwd));
	const added = texts.filter((text) => text !== "").map((text) => ({ type: "text" as const, text }));
	return added.length > 0 ? { content: [...event.content, ...added] } : undefined;
}

/** Asks for one more try where a rule was not followed, and leaves reminders for the next request. */
export async function afterTurn(memory: Memory | undefined, event: TurnEndEvent): Promise<TurnEndEventResult | undefined> {
	if (event.outcome !== "completed") return undefined;
	const end = await memory?.rule("turn/end", {});
	const retry = asText(end?.retry) ?? "";
	const content = [retry, asText(end?.remind) ?? ""].filter((text) => text !== "").join("\n\n");
	if (content === "") return undefined;
	const entry = { type: "custom_message" as const, customType: MESSAGE, content, display: true };
	return { entries: [...event.entries, entry], continue: event.continue || retry !== "" };
}

function called(event: ToolCallEvent | ToolResultEvent): Json {
	return { id: event.toolCallId, tool: event.toolName, input: event.input };
}

async function ran(pi: ExtensionAPI, one: Json, cwd: string): Promise<string> {
	const command = asText(one.command) ?? "";
	const head = `Memory \`${asText(one.rule) ?? ""}\` ran \`${command}\``;
	try {
		const done = await pi.exec("bash", ["-c", command], { timeout: COMMAND_LIMIT, cwd });
		const said = `${done.stdout}${done.stderr}`.trim();
		const shown = said.length > SHOWN ? `${said.slice(0, SHOWN)}\u2026` : said;
		const how = done.killed ? " (stopped after 60 s)" : done.code === 0 ? "" : ` (exit status ${done.code})`;
		return `${head}${how}:\n${shown || "no output"}`;
	} catch (error) {
		return `${head}, which failed: ${error instanceof Error ? error.message : String(error)}`;
	}
}
