// Where text for the user goes: a notice, the footer, a card in the transcript, or the terminal of `pi -p`.
import { writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { asLines, asObject, asText, type Level } from "./wire.ts";

const KEY = "noforgetti";
const CARD = "noforgetti-card";

export class Screen {
	/** The context of the newest event; an older one throws once its session is gone. */
	ctx: ExtensionContext | undefined;
	private readonly pi: ExtensionAPI;
	private readonly told = new Set<string>();

	constructor(pi: ExtensionAPI) {
		this.pi = pi;
	}

	/** Something that happened. Where nobody watches, only what went wrong is written, to stderr. */
	notice(level: Level, text: string): void {
		this.safely((ctx) => {
			if (ctx.hasUI) ctx.ui.notify(text, level);
			else if (level !== "info") write(2, `noforgetti: ${text}`);
		});
	}

	/** A trouble, told once in a session however often it comes back. */
	trouble(kind: string, text: string): void {
		this.status("memory: unavailable");
		if (this.told.has(kind)) return;
		this.told.add(kind);
		this.notice("warning", text);
	}

	/** The answer to a command: it must be seen in every mode but JSON, whose stdout is a protocol. */
	answer(level: Level, text: string): void {
		this.safely((ctx) => {
			if (ctx.hasUI) ctx.ui.notify(text, level);
			else write(ctx.mode === "print" && level !== "error" ? 1 : 2, text); // process.stdout is Pi's own here
		});
	}

	status(line: string | undefined): void {
		if (line === undefined) return;
		this.safely((ctx) => {
			if (ctx.hasUI) ctx.ui.setStatus(KEY, line || undefined);
		});
	}

	/** What a review changed: visible in the transcript, never sent to the model. */
	card(title: string, lines: string[]): void {
		this.safely(() => this.pi.appendEntry(CARD, { title, lines }));
	}

	/** Draws the cards. Pi supplies its text component; where it does not, cards stay invisible and nothing breaks. */
	async drawCards(): Promise<void> {
		const tui = await import("@earendil-works/pi-tui").catch(() => undefined);
		if (!tui) return;
		this.pi.registerEntryRenderer(CARD, (entry, _options, theme) => {
			const data = asObject(entry.data);
			const title = theme.fg("accent", asText(data.title) ?? "Memory");
			return new tui.Text([title, ...asLines(data.lines)].join("\n"), 1, 0);
		});
	}

	private safely(act: (ctx: ExtensionContext) => void): void {
		try {
			if (this.ctx) act(this.ctx);
		} catch {
			// The session was replaced while the bridge was speaking; there is nobody left to show it to.
		}
	}
}

function write(descriptor: number, text: string): void {
	let rest = Buffer.from(text.endsWith("\n") ? text : `${text}\n`, "utf8");
	while (rest.length > 0) {
		try {
			rest = rest.subarray(writeSync(descriptor, rest));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // the reader is gone
		}
	}
}
