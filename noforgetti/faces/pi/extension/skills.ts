// The skills of the memory branch: Pi asks once a session where they are, and reads them itself.
import type { Memory } from "./memory.ts";
import { asLines } from "./wire.ts";

/** What Pi is told when it asks for resources; nothing when the branch has no skills or the bridge does not answer. */
export async function skillPaths(memory: Memory | undefined): Promise<{ skillPaths: string[] } | undefined> {
	const paths = asLines(await memory?.skills());
	return paths.length > 0 ? { skillPaths: paths } : undefined;
}
