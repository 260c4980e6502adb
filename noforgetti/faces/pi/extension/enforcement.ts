// Rules of the memory at work on Pi's tool calls: the bridge says what follows, this carries it out. Nothing here fails a call.
import type { ExtensionAPI, ExtensionContext, ToolCallEvent, ToolCallEventResult, ToolResultEvent, ToolResultEventResult, TurnEndEvent, TurnEndEventResult } from "@earendil-works/pi-coding-agent";
import type { Memory } from "./memory.ts";
import { asText, isObject, type Json } from "./wire.ts";

const OWN = /^(?:project_memory|memory_\w+|session_search)$/;
const MESSAGE = "noforgetti-rule";
const COMMAND_LIMIT = 60_000; // milliseconds for a command that a rule runs (the reference's figure)
const SHOWN = 4_000; // characters of its output
const SENT = 100_000; // characters of one text in a call's input: more than a rule reads of a command, and no whole file
const NESTED = 12; // levels of an input that are sent: a subagent's calls, and no circle

/** Blocks a call that a rule forbids. */
export async function beforeTool(memory: Memory | undefined, event: ToolCallEvent): Promise<ToolCallEventResult | undefined> {
	if (OWN.test(event.toolName)) return undefined;
	const block = asText((await memory?.rule("tool/call", () => called(event)))?.block);
	return block ? { block: true, reason: block } : undefined;
}

/** Adds to a result what its rules say, and what their commands printed. */
export async function afterTool(pi: ExtensionAPI, memory: Memory | undefined, event: ToolResultEvent, ctx: ExtensionContext): Promise<ToolResultEventResult | undefined> {
	if (OWN.test(event.toolName)) return undefined;
	const after = await memory?.rule("tool/result", () => ({ ...called(event), error: event.isError }));
	const texts = [asText(after?.append) ?? ""];
	for (const one of Array.isArray(after?.run) ? after.run.filter(isObject) : []) texts.push(await ran(pi, one, ctx));
	const added = texts.filter((text) => text !== "").map((text) => ({ type: "text" as const, text }));
	if (added.length === 0) return undefined;
	return { content: [...event.content, ...added], structuredContent: event.structuredContent }; // left out, Pi would drop it
}

/** Asks for one more try where a rule was not followed, and leaves reminders for the next request. */
export async function afterTurn(memory: Memory | undefined, event: TurnEndEvent, ctx: ExtensionContext): Promise<TurnEndEventResult | undefined> {
	if (event.outcome !== "completed" || ctx.signal?.aborted) return undefined; // a turn that was stopped in a tool counts as completed
	const end = await memory?.rule("turn/end", () => ({}));
	const retry = asText(end?.retry) ?? "";
	const content = [retry, asText(end?.remind) ?? ""].filter((text) => text !== "").join("\n\n");
	if (content === "") return undefined;
	const entry = { type: "custom_message" as const, customType: MESSAGE, content, display: true };
	return { entries: [...event.entries, entry], continue: event.continue || retry !== "" };
}

function called(event: ToolCallEvent | ToolResultEvent): Json {
	return { id: event.toolCallId, tool: event.toolName, input: cut(event.input, NESTED) };
}

/** The same value with long texts cut, and nothing below `levels`. */
function cut(value: unknown, levels: number): unknown {
	if (typeof value === "string") return value.slice(0, SENT);
	if (typeof value !== "object" || value === null) return value;
	if (levels === 0) return null;
	if (Array.isArray(value)) return value.map((one) => cut(one, levels - 1));
	return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, levels - 1)]));
}

async function ran(pi: ExtensionAPI, one: Json, ctx: ExtensionContext): Promise<string> {
	const command = asText(one.command) ?? "";
	const head = `Memory \`${asText(one.rule) ?? ""}\` ran \`${command}\``;
	try {
		const done = await pi.exec("bash", ["-c", command], { timeout: COMMAND_LIMIT, cwd: ctx.cwd, signal: ctx.signal });
		const said = `${done.stdout}${done.stderr}`.trim();
		const shown = said.length > SHOWN ? `${[...said.slice(0, 2 * SHOWN)].slice(0, SHOWN).join("")}\u2026` : said;
		const how = done.killed ? " (stopped before its end)" : done.code === 0 ? "" : ` (exit status ${done.code})`;
		return `${head}${how}:\n${shown || "no output"}`;
	} catch (error) {
		return `${head}, which failed: ${error instanceof Error ? error.message : String(error)}`;
	}
}
