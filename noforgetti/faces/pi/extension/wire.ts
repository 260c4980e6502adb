// The words of docs/bridge-protocol.md as types, and narrowings for what arrives: a bridge is not trusted to be well.

export const PROTOCOL = 1;
export const UNAVAILABLE = -32001;

export type Level = "info" | "warning" | "error";
export type Json = Record<string, unknown>;

export interface Notice {
	level: Level;
	text: string;
}

export interface SessionRef {
	id: string;
	file: string | null;
}

/** What a turn is given. A missing field means: leave that place alone. */
export interface Inject {
	section?: string;
	systemPrompt?: string;
	ephemeral?: string;
	message?: string;
}

export interface CompletionItem {
	value: string;
	label: string;
	description?: string;
}

/** An answer to the other side that is an error, with its code. */
export class WireError extends Error {
	readonly code: number;

	constructor(code: number, message: string) {
		super(message);
		this.code = code;
	}
}

export function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): Json {
	return isObject(value) ? value : {};
}

export function asText(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

export function asLevel(value: unknown): Level {
	return value === "warning" || value === "error" ? value : "info";
}

export function asLines(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((line) => typeof line === "string") : [];
}

export function asNotices(value: unknown): Notice[] {
	if (!Array.isArray(value)) return [];
	return value.filter(isObject).map((one) => ({ level: asLevel(one.level), text: asText(one.text) ?? "" }));
}

export function asInject(value: unknown): Inject {
	const given = asObject(value);
	return {
		section: asText(given.section),
		systemPrompt: asText(given.system_prompt) || undefined,
		ephemeral: asText(given.ephemeral) || undefined,
		message: asText(given.message) || undefined,
	};
}

export function asItems(value: unknown): CompletionItem[] {
	if (!Array.isArray(value)) return [];
	return value.filter(isObject).flatMap((one) => {
		const item = asText(one.value);
		if (item === undefined) return [];
		return [{ value: item, label: asText(one.label) ?? item, description: asText(one.description) || undefined }];
	});
}

/** One line of the wire: non-ASCII characters are escaped, so no reader can split it in the wrong place. */
export function encode(message: Json): string {
	const text = JSON.stringify({ jsonrpc: "2.0", ...message });
	return `${text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
