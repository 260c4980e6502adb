// What stands beside this file: how to start the bridge (written at install) and which tools to register.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { asObject, asText, isObject, type Json } from "./wire.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const OWNER = Symbol.for("noforgetti.pi.owner");
const CHILD_MARKS = ["PI_SUBAGENT_CHILD_AGENT", "PI_SUBAGENT_RUN_ID", "PI_SUBAGENT_CHILD"];

/** Milliseconds that each request may take. */
export interface Limits {
	turn: number;
	complete: number;
	command: number;
	tool: number;
	start: number;
	rule: number;
	quit: number;
}

export interface Launch {
	command: string[];
	env: Record<string, string>;
	limits: Limits;
	hostVersion: string;
}

export interface ToolSpec {
	name: string;
	label: string;
	description: string;
	promptSnippet?: string;
	promptGuidelines?: string[];
	parameters: Json;
}

export const LIMITS: Limits = { turn: 3000, complete: 500, command: 60_000, tool: 30_000, start: 10_000, rule: 1000, quit: 1800 };

/** True in a child agent, which neither reads nor writes memory. Blank counts as unset. */
export function isChildAgent(env: NodeJS.ProcessEnv): boolean {
	return CHILD_MARKS.some((name) => (env[name] ?? "").trim() !== "");
}

/** True when this copy may register: the first folder to ask keeps the place until it lets go. */
export function claim(): boolean {
	const here = globalThis as { [OWNER]?: string };
	here[OWNER] ??= HERE;
	return here[OWNER] === HERE;
}

export function release(): void {
	const here = globalThis as { [OWNER]?: string };
	if (here[OWNER] === HERE) delete here[OWNER];
}

export async function readLaunch(): Promise<Launch> {
	const given = asObject(readJson("launch.json"));
	const command = Array.isArray(given.command) ? given.command.map(String) : [];
	const env = Object.fromEntries(Object.entries(asObject(given.env)).map(([name, value]) => [name, String(value)]));
	const limits = Object.entries(asObject(given.limits)).filter(([name, value]) => name in LIMITS && Number(value) > 0);
	const pi = await import("@earendil-works/pi-coding-agent").catch(() => undefined);
	return { command, env, limits: { ...LIMITS, ...Object.fromEntries(limits) }, hostVersion: pi?.VERSION ?? "" };
}

export function readTools(): ToolSpec[] {
	const given = readJson("tools.json");
	if (!Array.isArray(given)) return [];
	return given.filter(isObject).flatMap((one) => {
		const name = asText(one.name);
		if (!name) return [];
		return [
			{
				name,
				label: asText(one.label) ?? name,
				description: asText(one.description) ?? "",
				promptSnippet: asText(one.promptSnippet),
				promptGuidelines: Array.isArray(one.promptGuidelines) ? one.promptGuidelines.map(String) : undefined,
				parameters: asObject(one.parameters),
			},
		];
	});
}

function readJson(name: string): unknown {
	try {
		return JSON.parse(readFileSync(join(HERE, name), "utf8"));
	} catch {
		return undefined; // an extension that throws at load stops Pi; the missing command is reported when it is needed
	}
}
