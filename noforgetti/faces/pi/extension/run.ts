// One run of the agent: which user inputs it answered, and the unstored message that goes with it.
import type { ContextEvent, InputEvent } from "@earendil-works/pi-coding-agent";

type Messages = ContextEvent["messages"];
type Outcome = "completed" | "aborted" | "error";

export class Run {
	ephemeral: string | undefined;
	outcome: Outcome | undefined;
	readonly prompts: string[] = [];
	private anchor: number | undefined;

	/**
	 * The messages with the ephemeral one before the run's user message, or undefined: nothing to insert.
	 * It stays before the same message for the whole run, also when a steering message has arrived since: another place
	 * would cost the provider's prefix cache.
	 */
	insert(messages: Messages): Messages | undefined {
		if (!this.ephemeral) return undefined;
		let at = messages.findIndex((one) => one.role === "user" && one.timestamp === this.anchor);
		if (at < 0) at = messages.findLastIndex((one) => one.role === "user");
		const before = messages[at];
		if (!before) return undefined;
		this.anchor = before.timestamp;
		const extra: Messages[number] = {
			role: "user",
			content: [{ type: "text", text: this.ephemeral }],
			timestamp: before.timestamp - 1,
		};
		return [...messages.slice(0, at), extra, ...messages.slice(at)];
	}
}

/** Pairs what users typed with the messages that reached the agent; what other extensions sent is nobody's words. */
export class Inputs {
	private typed: { text: string; own: boolean }[] = [];

	heard(event: InputEvent): void {
		this.typed.push({ text: event.text, own: event.source !== "extension" });
	}

	/** The user's words behind a user message of the run, or undefined when no user spoke. */
	reached(content: string): string | undefined {
		if (this.typed.length === 0) return content;
		const same = this.typed.findIndex((one) => one.text === content);
		const at = same >= 0 ? same : 0; // templates and skills expand the text on the way
		const input = this.typed[at];
		this.typed = this.typed.slice(at + 1);
		return input?.own ? input.text : undefined;
	}

	clear(): void {
		this.typed = [];
	}
}
