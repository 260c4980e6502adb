// The selected memory branch as state of Pi's session: a custom entry on the session's current path.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { asObject, asText, type SessionRef } from "./wire.ts";

const STATE = "noforgetti";

/** The branch selected on the current path, or null: nothing was. Abandoned paths do not count. */
export function selectedOn(ctx: ExtensionContext): string | null {
	for (const entry of ctx.sessionManager.getBranch().reverse()) {
		if (entry.type !== "custom" || entry.customType !== STATE) continue;
		const branch = asText(asObject(entry.data).branch);
		if (branch) return branch;
	}
	return null;
}

/** Writes the selection into the session; Pi carries it through resume, reload, fork and clone. */
export function record(pi: ExtensionAPI, branch: string): void {
	try {
		pi.appendEntry(STATE, { branch });
	} catch {
		// The session was replaced meanwhile; its successor reads its own path.
	}
}

export function sessionOf(ctx: ExtensionContext): SessionRef {
	return { id: ctx.sessionManager.getSessionId(), file: ctx.sessionManager.getSessionFile() ?? null };
}
