// One session's memory: asks the bridge at each moment of the session and carries out what it answers.
import type {
	BeforeAgentStartEvent,
	BeforeAgentStartEventResult,
	ExtensionAPI,
	ExtensionContext,
} from "@earendil-works/pi-coding-agent";
import { Bridge } from "./bridge.ts";
import { Host } from "./host.ts";
import type { Launch } from "./launch.ts";
import { Inputs, Run } from "./run.ts";
import type { Screen } from "./screen.ts";
import { record, selectedOn, sessionOf } from "./selection.ts";
import { BridgeFailure, sentence } from "./trouble.ts";
import { asInject, asItems, asLevel, asLines, asNotices, asText, PROTOCOL } from "./wire.ts";
import type { CompletionItem, Inject, Json, SessionRef } from "./wire.ts";

const GOES_ON = "Work goes on without memory.";
const SECTION = "project_memory";
const MESSAGE = "noforgetti-memory"; // the hidden stored message, for the injection that wants one

export class Memory {
	run = new Run();
	readonly inputs = new Inputs();
	private readonly pi: ExtensionAPI;
	private readonly launch: Launch;
	private readonly screen: Screen;
	private readonly host = new Host();
	private readonly bridge: Bridge;
	private session: SessionRef;
	private reason: string;
	private branch: string | null;
	private lasting: Inject = {}; // set again when the bridge is late: leaving it out would remove it from the prompt
	private readonly items = new Map<string, CompletionItem[]>();

	constructor(pi: ExtensionAPI, launch: Launch, screen: Screen, opened: { ctx: ExtensionContext; reason: string }) {
		this.pi = pi;
		this.launch = launch;
		this.screen = screen;
		this.session = sessionOf(opened.ctx);
		this.branch = selectedOn(opened.ctx);
		this.reason = opened.reason;
		this.look(opened.ctx);
		this.bridge = new Bridge(launch, opened.ctx.cwd, {
			started: () => this.greet(),
			ask: (method, params) => this.host.ask(method, params),
			tell: (method, params) => this.told(method, params),
			failed: (failure) => this.report(failure),
		});
	}

	/** Starts the bridge without waiting for it. */
	open(): void {
		try {
			this.bridge.start();
		} catch (error) {
			this.report(error);
		}
	}

	/** The folders of the branch's skills. A bridge that is late costs a session its skills, not its start. */
	async skills(): Promise<unknown> {
		try {
			const asked = { session: this.session, branch: this.branch };
			return (await this.bridge.call("skills/paths", asked, this.launch.limits.turn)).paths;
		} catch {
			return undefined; // the first turn reports what is wrong with the bridge
		}
	}

	/** What the rules say of a moment; undefined when the bridge is late or gone: rules help, the work goes on. */
	async rule(method: string, params: () => Json): Promise<Json | undefined> {
		if (!this.bridge.alive || this.bridge.silent) return undefined;
		const { rule, turn } = this.launch.limits;
		const limit = method === "turn/end" ? turn : rule; // a reminder searches as the start of a turn does
		try {
			return await this.bridge.call(method, { session: this.session, branch: this.branch, ...params() }, limit);
		} catch (error) {
			this.report(error);
			return undefined;
		}
	}

	/** The session stands at another place of its tree: the branch selected there holds. */
	moved(ctx: ExtensionContext): void {
		this.look(ctx);
		this.branch = selectedOn(ctx);
		this.forget();
		this.reason = "tree";
		this.aside(this.enter());
	}

	/** What this turn is given. Never later than the limit, never a failure of the turn. */
	async turn(event: BeforeAgentStartEvent, ctx: ExtensionContext): Promise<BeforeAgentStartEventResult | undefined> {
		this.look(ctx);
		this.run = new Run();
		this.items.clear();
		let inject = this.lasting;
		try {
			const prompt = event.messageType === "user" ? event.prompt : "";
			const result = await this.ask("turn/start", { prompt, system_characters: event.systemPrompt.length }, this.launch.limits.turn);
			inject = asInject(result.inject);
			this.lasting = { section: inject.section, systemPrompt: inject.systemPrompt };
		} catch (error) {
			this.report(error);
			inject = this.lasting;
		}
		this.run.ephemeral = inject.ephemeral;
		const sections = event.systemPromptOptions.sections;
		if (inject.section) sections[SECTION] = inject.section;
		else delete sections[SECTION];
		return {
			systemPrompt: inject.systemPrompt === undefined ? undefined : `${event.systemPrompt}\n\n${inject.systemPrompt}`,
			message: inject.message && !hasMessage(ctx) ? { customType: MESSAGE, content: inject.message, display: false } : undefined,
		};
	}

	/** A user message became part of the run. */
	reached(content: string | readonly { type: string; text?: string }[]): void {
		const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
		const typed = this.inputs.reached(text);
		if (typed !== undefined) this.run.prompts.push(typed);
	}

	/** Tells the bridge that the agent is idle. Not awaited: a review that is waited for freezes the next prompt. */
	settled(aborted: boolean, ctx: ExtensionContext): void {
		this.look(ctx);
		const outcome = aborted ? "aborted" : (this.run.outcome ?? "completed");
		const prompts = outcome === "completed" ? this.run.prompts : [];
		this.inputs.clear();
		this.aside(this.ask("turn/settled", { outcome, prompts }, this.launch.limits.start));
	}

	async command(line: string, ctx: ExtensionContext): Promise<void> {
		this.look(ctx);
		this.items.clear();
		try {
			const params = { line: line.trim(), interactive: ctx.hasUI };
			const result = await this.ask("command", params, this.launch.limits.command);
			this.screen.answer(asLevel(result.level), asText(result.text) ?? "");
		} catch (error) {
			this.screen.answer("error", sentence(error));
		} finally {
			this.items.clear();
		}
	}

	/** Completions of what follows `/memory`; asked on every keystroke, so an answer is kept until something changes. */
	async complete(prefix: string): Promise<CompletionItem[] | null> {
		const known = this.items.get(prefix);
		if (known) return offered(known, prefix);
		try {
			const result = await this.bridge.call("complete", { prefix, branch: this.branch }, this.launch.limits.complete);
			const items = asItems(result.items);
			this.items.set(prefix, items);
			return offered(items, prefix);
		} catch {
			return null; // a list that cannot be shown is not worth a notice; the command itself will say why
		}
	}

	/** The text of a tool's result; a thrown error's message is what the model reads as the failure. */
	async tool(name: string, args: unknown, ctx: ExtensionContext): Promise<{ text: string; details: unknown }> {
		this.look(ctx);
		this.items.clear();
		const result = await this.ask("tool", { name, arguments: args }, this.launch.limits.tool);
		const text = asText(result.text) ?? "";
		if (result.error === true) throw new Error(text || `${name} failed.`);
		return { text, details: result.details ?? {} };
	}

	/** Lets a running review end, for a moment only; then the bridge and every model call are gone. */
	async close(reason: string): Promise<void> {
		const end = Date.now() + this.launch.limits.quit;
		const wait = Math.max(0, this.launch.limits.quit - 400);
		if (this.bridge.alive && !this.bridge.silent) {
			await this.bridge.call("session/end", { reason, wait: wait / 1000 }, wait + 100).catch(() => undefined);
		}
		this.host.abort();
		await this.bridge.close(Math.max(250, end - Date.now()));
	}

	private look(ctx: ExtensionContext): void {
		this.screen.ctx = ctx;
		this.host.look(ctx);
		this.session = sessionOf(ctx);
	}

	/** A new bridge process knows nothing: say who is here before anything else is asked of it. */
	private greet(): void {
		const hello = { protocol: PROTOCOL, host: "pi", host_version: this.launch.hostVersion, cwd: this.host.cwd };
		this.aside(this.bridge.call("hello", hello, this.launch.limits.start));
		this.aside(this.enter());
	}

	private async enter(): Promise<void> {
		const reason = this.reason;
		this.reason = "restart";
		await this.ask("session/start", { reason }, this.launch.limits.start);
	}

	/** One request about this session; a branch, a footer line and notices in the result are carried out here. */
	private async ask(method: string, params: Json, limit: number): Promise<Json> {
		const sent = this.branch;
		const result = await this.bridge.call(method, { session: this.session, branch: sent, ...params }, limit);
		const branch = asText(result.branch);
		// The user's choice always holds; any other answer only while nothing was chosen after the question.
		const chosen = method === "command";
		if (branch && branch !== sent && (chosen || this.branch === sent)) this.select(branch, chosen);
		this.screen.status(asText(result.status));
		for (const notice of asNotices(result.notices)) this.screen.notice(notice.level, notice.text);
		return result;
	}

	/** Selects a branch. The default of a session that never chose is not recorded: opening one changes nothing. */
	private select(branch: string, chosen: boolean): void {
		const before = this.branch;
		if (branch === before) return;
		this.branch = branch;
		this.forget();
		if (before !== null || chosen) record(this.pi, branch);
	}

	private forget(): void {
		this.lasting = {};
		this.items.clear();
	}

	private told(method: string, params: Json): void {
		this.items.clear();
		if (method === "notice") this.screen.notice(asLevel(params.level), asText(params.text) ?? "");
		else if (method === "status") this.screen.status(asText(params.line) ?? "");
		else if (method === "card") this.screen.card(asText(params.title) ?? "Memory", asLines(params.lines));
	}

	private report(error: unknown): void {
		if (!(error instanceof BridgeFailure)) this.screen.trouble("fault", `Memory failed: ${sentence(error)}`);
		else if (error.trouble === "refused") this.screen.trouble(error.message, error.message);
		else if (error.trouble !== "closed") this.screen.trouble(error.trouble, `${error.message} ${GOES_ON}`);
	}

	/** Whatever runs beside the session: a rejection that nobody catches would end Pi. */
	private aside(work: Promise<unknown>): void {
		work.catch((error) => this.report(error));
	}
}

/** True when the session has its one hidden message already: it was resumed, or its bridge began anew. */
function hasMessage(ctx: ExtensionContext): boolean {
	const entries = ctx.sessionManager.getBranch();
	return entries.some((entry) => entry.type === "custom_message" && entry.customType === MESSAGE);
}

/** A list that only repeats what is typed would swallow the Enter that should submit it. */
function offered(items: CompletionItem[], prefix: string): CompletionItem[] | null {
	return items.length === 0 || items.some((item) => item.value === prefix) ? null : items;
}
