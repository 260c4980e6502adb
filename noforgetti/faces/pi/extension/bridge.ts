// The bridge process and JSON-RPC lines both ways. Every request has a time limit, every failure is a BridgeFailure,
// and a bridge that ends, falls silent or talks nonsense is replaced at the next request, a few times a minute.
import { type ChildProcess, spawn } from "node:child_process";
import type { Launch } from "./launch.ts";
import { hasEnded, Lines, within } from "./pipe.ts";
import { BridgeFailure, crashed, leftAlone, missing, nonsense, refused, sentence, silent } from "./trouble.ts";
import { asObject, asText, encode, isObject, type Json, WireError } from "./wire.ts";

const STARTS_A_MINUTE = 3;
const SILENCES = 2; // requests in a row that had their full time and no answer, before the process is replaced
const SHORT_LIMIT = 250; // ms for a turn while the bridge is silent: the user has waited for it once

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

	private get program(): string {
		return this.launch.command[0] ?? "";
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
				reject(error instanceof BridgeFailure ? error : missing(this.program, error));
				return;
			}
			const id = this.next++;
			const patience = this.silent && method === "turn/start" ? Math.min(limit, SHORT_LIMIT) : limit;
			const counts = patience === limit && method !== "complete" && method !== "skills/paths";
			const timer = setTimeout(() => this.late(id, silent(method, patience), counts), patience);
			this.waiting.set(id, { resolve, reject, timer });
			child.stdin?.write(encode({ id, method, params }));
		});
	}

	/** End of stdin, then SIGTERM, then SIGKILL; resolves when the process is gone, in about `limit` milliseconds. */
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
			throw leftAlone(this.last, STARTS_A_MINUTE);
		}
		this.starts.push(now);
		this.child = this.spawn();
		this.served.started();
		return this.child;
	}

	private spawn(): ChildProcess {
		const env = { ...process.env, ...this.launch.env };
		const args = this.launch.command.slice(1);
		const child = spawn(this.program, args, { cwd: this.cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
		this.stderr = "";
		this.silences = 0;
		const lines = new Lines((line) => this.take(child, line), () => this.drop(child, nonsense("a line without an end")));
		child.stdout?.on("data", (data: Buffer) => {
			if (this.child === child) lines.feed(data);
		});
		child.stderr?.on("data", (data: Buffer) => {
			this.stderr = (this.stderr + data.toString("utf8")).slice(-2000);
		});
		child.stdin?.on("error", () => {}); // a broken pipe shows as the end of the process
		child.on("error", (error) => this.gone(child, missing(this.program, error)));
		child.on("exit", (code, signal) => this.gone(child, crashed(signal ?? `exit ${code}`, this.stderr)));
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

	private late(id: number, failure: BridgeFailure, counts: boolean): void {
		const one = this.waiting.get(id);
		this.waiting.delete(id);
		if (counts) this.silences += 1;
		one?.reject(failure);
		if (this.silences >= SILENCES && this.child) this.drop(this.child, failure);
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
		if (!isObject(message)) return this.drop(child, nonsense("a line that is not JSON"));
		this.silences = 0;
		const method = asText(message.method);
		if (method !== undefined) return this.asked(child, method, message);
		this.answered(child, message);
	}

	private answered(child: ChildProcess, message: Json): void {
		const id = message.id;
		if (typeof id !== "number" || id < 1 || id >= this.next) {
			return this.drop(child, nonsense("an answer to a question that nobody asked"));
		}
		const one = this.waiting.get(id);
		if (!one) return; // late: the time limit has spoken already
		this.waiting.delete(id);
		clearTimeout(one.timer);
		if (isObject(message.error)) one.reject(refused(message.error));
		else if (isObject(message.result)) one.resolve(message.result);
		else {
			const failure = nonsense("an answer without a result");
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
