import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** The built program. */
export const program = resolve(process.env['CAPSID_PROGRAM'] ?? '../target/debug/capsid');

/** A folder of its own for one test file, with a home in which nothing of this machine's user is. */
export class ScratchFolder {
	private constructor(readonly path: string) {}

	static async make(): Promise<ScratchFolder> {
		return new ScratchFolder(await mkdtemp(join(tmpdir(), 'capsid-e2e-')));
	}

	at(...names: string[]): string {
		return join(this.path, ...names);
	}

	/** What the program may know of its surroundings. */
	get environment(): Record<string, string> {
		return {
			PATH: process.env['PATH'] ?? '',
			HOME: this.path,
			AGENT_CAPSULE_HOME: this.at('trail'),
			EVOMAP_HUB_ALLOW_INSECURE: '1',
			CAPSID_LOG: 'warn'
		};
	}

	/** Runs the program to its end and gives what it printed. A failure throws with all that was said. */
	async run(words: string[], input = ''): Promise<string> {
		const child = spawn(program, words, { cwd: this.path, env: this.environment });
		const output = { out: '', messages: '' };
		child.stdout.on('data', (bytes: Buffer) => (output.out += bytes));
		child.stderr.on('data', (bytes: Buffer) => (output.messages += bytes));
		child.stdin.on('error', () => undefined);
		child.stdin.end(input);
		const status = await waitForExit(child);
		if (status !== 0)
			throw new Error(`capsid ${words.join(' ')}: ${status}\n${output.out}\n${output.messages}`);
		return output.out;
	}

	/** Starts the program and waits for the address that it prints. */
	async start(words: string[], more: Record<string, string> = {}): Promise<RunningProgram> {
		const child = spawn(program, words, {
			cwd: this.path,
			env: { ...this.environment, ...more },
			stdio: ['ignore', 'pipe', 'pipe']
		});
		return new Promise((onAddress, failed) => {
			let output = '';
			const readLine = (line: string) => {
				output += `${line}\n`;
				const address = /https?:\/\/[^\s"\u001b]+/.exec(line)?.[0];
				if (address) onAddress(new RunningProgram(child, address, () => output));
			};
			createInterface({ input: child.stdout }).on('line', readLine);
			createInterface({ input: child.stderr }).on('line', readLine);
			child.once('exit', (status) => failed(new Error(`capsid ${words.join(' ')}: ${status}\n${output}`)));
			child.once('error', failed);
		});
	}

	remove(): Promise<void> {
		return rm(this.path, { recursive: true, force: true });
	}
}

/** A program that serves, until it is stopped. */
export class RunningProgram {
	constructor(
		private readonly child: ChildProcess,
		readonly address: string,
		/** All that it printed so far. */
		readonly printed: () => string
	) {}

	get origin(): string {
		return new URL(this.address).origin;
	}

	async stop(): Promise<void> {
		if (this.child.exitCode !== null) return;
		const end = waitForExit(this.child);
		this.child.kill('SIGTERM');
		await end;
	}
}

function waitForExit(child: ChildProcess): Promise<number | null> {
	return new Promise((done, failed) => {
		child.once('error', failed);
		child.once('exit', done);
	});
}
