// What the bridge may ask of Pi: one answer of the user's model, and the session's own entries.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { asText, type Json, UNAVAILABLE, WireError } from "./wire.ts";

export class Host {
	private readonly stop = new AbortController();
	private model: ExtensionContext["model"];
	private registry: ExtensionContext["modelRegistry"] | undefined;
	private sessions: ExtensionContext["sessionManager"] | undefined;
	cwd = "";

	/** Takes plain objects out of a context, because the context throws once its session was replaced. */
	look(ctx: ExtensionContext): void {
		this.model = ctx.model;
		this.registry = ctx.modelRegistry;
		this.sessions = ctx.sessionManager;
		this.cwd = ctx.cwd;
	}

	async ask(method: string, params: Json): Promise<Json> {
		if (method === "model/complete") return this.complete(params);
		if (method === "session/entries") return this.entries(params);
		throw new WireError(-32601, `Pi does not know the method \`${method}\`.`);
	}

	/** Ends every model call that still runs. */
	abort(): void {
		this.stop.abort();
	}

	private async complete(params: Json): Promise<Json> {
		const { model, registry } = this;
		if (!model || !registry?.hasConfiguredAuth(model)) {
			throw new WireError(UNAVAILABLE, "No model with credentials is selected in this session.");
		}
		const asked = typeof params.max_tokens === "number" ? params.max_tokens : model.maxTokens;
		const content = [{ type: "text" as const, text: asText(params.prompt) ?? "" }];
		const answer = await registry.complete(
			model,
			{ systemPrompt: asText(params.system), messages: [{ role: "user", content, timestamp: Date.now() }] },
			{ maxTokens: Math.min(asked, model.maxTokens), signal: this.stop.signal, cacheRetention: "none" },
		);
		if (answer.stopReason === "error" || answer.stopReason === "aborted") {
			throw new WireError(-32000, answer.errorMessage ?? `The model's answer was ${answer.stopReason}.`);
		}
		return {
			text: answer.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
			stop_reason: answer.stopReason,
			model: `${model.provider}/${model.id}`,
			usage: { input: answer.usage.input, output: answer.usage.output },
		};
	}

	private entries(params: Json): Json {
		if (!this.sessions) throw new WireError(UNAVAILABLE, "No session is open.");
		const path = this.sessions.getBranch();
		const at = path.findIndex((entry) => entry.id === asText(params.after));
		return { entries: path.slice(at + 1), id: this.sessions.getSessionId(), cwd: this.cwd };
	}
}
