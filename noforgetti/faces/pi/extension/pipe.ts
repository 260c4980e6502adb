// What a pipe to a process needs: whole lines out of bytes, waiting with a limit, whether the process is still there.
import type { ChildProcess } from "node:child_process";

const LINE_LIMIT = 16 * 1024 * 1024; // bytes; no answer of the bridge comes near it

/** Splits bytes on LF and refuses a line that never ends. */
export class Lines {
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

export function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

export function within(event: Promise<void>, limit: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, limit);
		void event.then(() => {
			clearTimeout(timer);
			resolve();
		});
	});
}
