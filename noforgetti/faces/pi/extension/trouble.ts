// Everything that can be wrong with the bridge, as sentences for the user.
import { asObject, asText, type Json } from "./wire.ts";

export type Trouble = "missing" | "crashed" | "silent" | "nonsense" | "refused" | "closed";

/** Why a request has no result: which sort of trouble, and one sentence. */
export class BridgeFailure extends Error {
	readonly trouble: Trouble;

	constructor(trouble: Trouble, message: string) {
		super(message);
		this.trouble = trouble;
	}
}

export function missing(program: string, why: unknown): BridgeFailure {
	const hint = "Run `noforgetti install pi` again.";
	return new BridgeFailure("missing", `The memory bridge \`${program}\` could not be run (${sentence(why)}). ${hint}`);
}

export function crashed(how: string, stderr: string): BridgeFailure {
	const last = stderr.trim().split("\n").findLast((line) => /^\S/.test(line)); // indented lines are places in code
	return new BridgeFailure("crashed", `The memory bridge ended unexpectedly (${how})${last ? `: ${last}` : "."}`);
}

export function silent(method: string, milliseconds: number): BridgeFailure {
	const limit = `${milliseconds / 1000} s`;
	return new BridgeFailure("silent", `The memory bridge did not answer \`${method}\` within ${limit}.`);
}

export function nonsense(what: string): BridgeFailure {
	return new BridgeFailure("nonsense", `The memory bridge sent ${what}, which is not its protocol; it was stopped.`);
}

export function leftAlone(last: BridgeFailure, times: number): BridgeFailure {
	const why = `It failed ${times} times within a minute and is left alone for now.`;
	return new BridgeFailure(last.trouble, `${last.message} ${why}`);
}

/** The bridge is well and says no: its own sentence, and its hint on a second line. */
export function refused(error: Json): BridgeFailure {
	const hint = asText(asObject(error.data).hint);
	const message = asText(error.message) ?? "The memory bridge refused without a reason.";
	return new BridgeFailure("refused", hint ? `${message}\nHint: ${hint}` : message);
}

export function sentence(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
