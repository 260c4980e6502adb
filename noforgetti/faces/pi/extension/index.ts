// The Pi side of noforgetti: subscribes, registers, hands every moment to the session's memory. It decides nothing.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { afterTool, afterTurn, beforeTool } from "./enforcement.ts";
import { claim, isChildAgent, readLaunch, readTools, release, type ToolSpec } from "./launch.ts";
import { Memory } from "./memory.ts";
import { Screen } from "./screen.ts";
import { skillPaths } from "./skills.ts";

const NOT_OPEN = "Memory is not open in this session.";

export default async function (pi: ExtensionAPI): Promise<void> {
	if (isChildAgent(process.env) || !claim()) return;

	const launch = await readLaunch();
	const screen = new Screen(pi);
	let memory: Memory | undefined;

	pi.on("session_start", async (event, ctx) => {
		await memory?.close(event.reason);
		for (const tool of readTools()) registerTool(pi, tool, () => memory);
		await screen.drawCards();
		memory = new Memory(pi, launch, screen, { ctx, reason: event.reason });
		memory.open();
	});
	pi.on("resources_discover", () => skillPaths(memory));
	pi.on("session_tree", (_event, ctx) => memory?.moved(ctx));
	pi.on("session_shutdown", async (event) => {
		const closing = memory;
		memory = undefined;
		await closing?.close(event.reason);
		release();
	});

	pi.on("input", (event) => memory?.inputs.heard(event));
	pi.on("before_agent_start", (event, ctx) => memory?.turn(event, ctx));
	pi.on("message_end", (event) => {
		if (event.message.role === "user") memory?.reached(event.message.content);
	});
	// Not "context": a changed list there makes Pi fold every section update into the first system message.
	pi.on("context_with_system", (event) => {
		const messages = memory?.run.insert(event.messages);
		return messages && { messages };
	});
	pi.on("tool_call", (event) => beforeTool(memory, event));
	pi.on("tool_result", (event, ctx) => afterTool(pi, memory, event, ctx));
	pi.on("turn_end", (event, ctx) => afterTurn(memory, event, ctx));
	pi.on("agent_before_settle", (event) => {
		if (memory) memory.run.outcome = event.outcome;
	});
	pi.on("agent_settled", (event, ctx) => memory?.settled(event.aborted, ctx));

	pi.registerCommand("memory", {
		description: "Project memory: status, show, branches, fork, use, undo, redo, review, search, promotions, skills, log, diff, merge",
		getArgumentCompletions: (prefix) => memory?.complete(prefix) ?? null,
		handler: async (args, ctx) => memory?.command(args, ctx),
	});
	pi.registerCommand("memory-consolidate", {
		description: "Review this session and consolidate the memory now",
		handler: async (_args, ctx) => memory?.command("consolidate", ctx),
	});
}

/** Registers one tool once a session is there: at load, a name that another extension has would stop Pi. */
function registerTool(pi: ExtensionAPI, tool: ToolSpec, memory: () => Memory | undefined): void {
	pi.registerTool({
		...tool,
		executionMode: "sequential",
		async execute(_id, params, _signal, _onUpdate, ctx) {
			const open = memory();
			if (!open) throw new Error(NOT_OPEN);
			const { text, details } = await open.tool(tool.name, params, ctx);
			return { content: [{ type: "text", text }], details };
		},
	});
}
