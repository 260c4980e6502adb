// The bridge process and JSON-RPC lines both ways. Every request has a time limit, every failure is a BridgeFailure,
// and a bridge that ends, falls silent or talks nonsense is replaced at the next request, at most a few times a minute.
import { type ChildProcess, spawn } from "node:child_process";
import type { Launch } from "./launch.ts";
import { asObject, asText, encode, isObject, type Json, WireError } from "./wire.ts";

const LINE_LIMIT = 16 * 1024 * 1024; // bytes; a session's entries are the largest thing that is ever sent
const STARTS_A_MINUTE = 3;
const SILENCES = 2; // requests in a row that had their full time and no answer, before the process is replaced
const SHORT_LIMIT = 250; // ms for a turn while the bridge is silent: the user has waited for it once

export type Trouble = "missing" | "crashed" | "silent" | "nonsense" | "refused" | "closed";

/** Why a request has no result: one sentence for the user, and which sort of trouble it is. */
export class BridgeFailure extends Error {
	readonly trouble: Trouble;

	constructor(trouble: Trouble, message: string) {
		super(message);
		this.trouble = trouble;
	}
}

/** What the other end of the pipe may ask and tell. */
export interface Served {
	started(): void;
	ask(method: string, params: Json): Promise<Json>;
	tell(method: string, params: Json): void;
	failed(failure: BridgeFailure): void;
}

interface Waiting {
	resolve(result: Json): void;
	reject(failure: BridgeFailure): void;
	timer: NodeJS.Timeout;
}

export class Bridge {
	private readonly launch: Launch;
	private readonly cwd: string;
	private readonly served: Served;
	private child: ChildProcess | undefined;
	private readonly waiting = new Map<number, Waiting>();
	private next = 1;
	private starts: number[] = [];
	private silences = 0;
	private closed = false;
	private stderr = "";
	private last = new BridgeFailure("crashed", "The memory bridge does not start.");

	constructor(launch: Launch, cwd: string, served: Served) {
		this.launch = launch;
		this.cwd = cwd;
		this.served = served;
	}

	get alive(): boolean {
		return this.child !== undefined;
	}

	/** True while a request went unanswered and nothing was heard since. */
	get silent(): boolean {
		return this.silences > 0;
	}

	/** Starts the process when none runs; throws a BridgeFailure when it may not. */
	start(): void {
		this.running();
	}

	/** The result of one request, or a BridgeFailure within `limit` milliseconds. */
	call(method: string, params: Json, limit: number): Promise<Json> {
		return new Promise((resolve, reject) => {
			let child: ChildProcess;
			try {
				child = this.running();
			} catch (error) {
				reject(error instanceof BridgeFailure ? error : new BridgeFailure("missing", sentence(error)));
				return;
			}
			const id = this.next++;
			const patience = this.silent && method === "turn/start" ? Math.min(limit, SHORT_LIMIT) : limit;
			const timer = setTimeout(() => this.late(id, method, { patience, counts: patience === limit && method !== "complete" }), patience);
			this.waiting.set(id, { resolve, reject, timer });
			child.stdin?.write(encode({ id, method, params }));
		});
	}

	/** End of stdin, then SIGTERM, then SIGKILL; resolves when the process is gone, within about `limit` milliseconds. */
	async close(limit: number): Promise<void> {
		this.closed = true;
		const child = this.child;
		if (!child || hasEnded(child)) return;
		const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
		child.stdin?.end();
		if (!this.silent) await within(ended, Math.max(0, limit - 150));
		if (!hasEnded(child)) child.kill("SIGTERM");
		await within(ended, 100);
		if (!hasEnded(child)) child.kill("SIGKILL");
		await within(ended, 50);
	}

	private running(): ChildProcess {
		if (this.closed) throw new BridgeFailure("closed", "The session has ended.");
		if (this.child) return this.child;
		const now = Date.now();
		this.starts = this.starts.filter((at) => now - at < 60_000);
		if (this.starts.length >= STARTS_A_MINUTE) {
			const { trouble, message } = this.last;
			throw new BridgeFailure(trouble, `${message} It failed ${STARTS_A_MINUTE} times within a minute and is left alone for now.`);
		}
		this.starts.push(now);
		this.child = this.spawn();
		this.served.started();
		return this.child;
	}

	private spawn(): ChildProcess {
		const [program = "", ...args] = this.launch.command;
		const env = { ...process.env, ...this.launch.env };
		const child = spawn(program, args, { cwd: this.cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
		this.stderr = "";
		this.silences = 0;
		const lines = new Lines((line) => this.take(child, line), () => this.nonsense(child, "a line without an end"));
		child.stdout?.on("data", (data: Buffer) => {
			if (this.child === child) lines.feed(data);
		});
		child.stderr?.on("data", (data: Buffer) => {
			this.stderr = (this.stderr + data.toString("utf8")).slice(-2000);
		});
		child.stdin?.on("error", () => {}); // a broken pipe shows as the end of the process
		child.on("error", (error) => this.gone(child, new BridgeFailure("missing", `The memory bridge \`${program}\` could not be run (${sentence(error)}). Run \`noforgetti install pi\` again.`)));
		child.on("exit", (code, signal) => {
			const last = this.stderr.trim().split("\n").at(-1) ?? "";
			this.gone(child, new BridgeFailure("crashed", `The memory bridge ended unexpectedly (${signal ?? `exit ${code}`})${last ? `: ${last}` : "."}`));
		});
		return child;
	}

	private gone(child: ChildProcess, failure: BridgeFailure): void {
		if (this.child !== child) return;
		this.child = undefined;
		this.silences = 0;
		this.last = failure;
		const waiting = [...this.waiting.values()];
		this.waiting.clear();
		for (const one of waiting) {
			clearTimeout(one.timer);
			one.reject(failure);
		}
		if (!this.closed) this.served.failed(failure);
	}

	private late(id: number, method: string, { patience, counts }: { patience: number; counts: boolean }): void {
		const one = this.waiting.get(id);
		this.waiting.delete(id);
		if (counts) this.silences += 1;
		const failure = new BridgeFailure("silent", `The memory bridge did not answer \`${method}\` within ${patience / 1000} s.`);
		one?.reject(failure);
		if (this.silences >= SILENCES && this.child) this.drop(this.child, failure);
	}

	private nonsense(child: ChildProcess, what: string): void {
		this.drop(child, new BridgeFailure("nonsense", `The memory bridge sent ${what}, which is not its protocol; it was stopped.`));
	}

	private drop(child: ChildProcess, failure: BridgeFailure): void {
		this.gone(child, failure);
		child.kill("SIGKILL");
	}

	private take(child: ChildProcess, line: string): void {
		if (this.child !== child) return;
		let message: unknown;
		try {
			message = JSON.parse(line);
		} catch {
			message = undefined;
		}
		if (!isObject(message)) return this.nonsense(child, "a line that is not JSON");
		this.silences = 0;
		const method = asText(message.method);
		if (method !== undefined) return this.asked(child, method, message);
		this.answered(child, message);
	}

	private answered(child: ChildProcess, message: Json): void {
		const id = message.id;
		if (typeof id !== "number" || id < 1 || id >= this.next) return this.nonsense(child, "an answer to a question nobody asked");
		const one = this.waiting.get(id);
		if (!one) return; // late: the time limit has spoken already
		this.waiting.delete(id);
		clearTimeout(one.timer);
		if (isObject(message.error)) one.reject(new BridgeFailure("refused", refusal(message.error)));
		else if (isObject(message.result)) one.resolve(message.result);
		else {
			const failure = new BridgeFailure("nonsense", "The memory bridge sent an answer without a result; it was stopped.");
			one.reject(failure);
			this.drop(child, failure);
		}
	}

	private asked(child: ChildProcess, method: string, message: Json): void {
		const params = asObject(message.params);
		if (message.id === undefined) return this.served.tell(method, params);
		const answer = (what: Json) => {
			if (this.child === child && !hasEnded(child)) child.stdin?.write(encode({ id: message.id, ...what }));
		};
		this.served.ask(method, params).then(
			(result) => answer({ result }),
			(error) => answer({ error: { code: error instanceof WireError ? error.code : -32603, message: sentence(error) } }),
		);
	}
}

/** Splits bytes on LF and refuses a line that never ends. */
class Lines {
	private readonly line: (text: string) => void;
	private readonly tooLong: () => void;
	private parts: Buffer[] = [];
	private size = 0;

	constructor(line: (text: string) => void, tooLong: () => void) {
		this.line = line;
		this.tooLong = tooLong;
	}

	feed(data: Buffer): void {
		let from = 0;
		for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, from)) {
			const whole = Buffer.concat([...this.parts, data.subarray(from, at)]).toString("utf8");
			this.parts = [];
			this.size = 0;
			from = at + 1;
			if (whole.trim()) this.line(whole);
		}
		this.parts.push(data.subarray(from));
		this.size += data.length - from;
		if (this.size > LINE_LIMIT) this.tooLong();
	}
}

function refusal(error: Json): string {
	const hint = asText(asObject(error.data).hint);
	const message = asText(error.message) ?? "The memory bridge refused without a reason.";
	return hint ? `${message}\nHint: ${hint}` : message;
}

function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

function within(event: Promise<void>, limit: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, limit);
		void event.then(() => {
			clearTimeout(timer);
			resolve();
		});
	});
}

function sentence(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
