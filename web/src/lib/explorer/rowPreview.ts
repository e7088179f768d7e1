import type { CheckPool } from './checkPool';
import { BufferStore, fillChunk } from './chunks';
import type { BundleFiles } from './files';
import { RecordScanner, Unreadable } from './recordScanner';
import { RowIndex } from './rowIndex';
import type { TimelineRow } from './types';
import type { CheckedRow } from './verifier';

/** How much is read around a place: enough for the rows on a screen. */
const WINDOW_SIZE = 256 << 10;
/** How often one place is looked for: the next try is nearer. */
const MAX_TRIES = 4;
/** Rows of this many places are kept. */
const MAX_WINDOWS = 8;

/** How a record begins in a chain file. Inside a text its quotes would be escaped. */
const RECORD_START = new TextEncoder().encode('{"hash":');

interface PreviewRow {
	row: TimelineRow;
	offset: number;
	length: number;
}

/**
 * Records that are looked at before the scan has come to them: the end of a chain, or what a link names. They are read
 * at the place where they should be in the file, and checked by themselves. The verdict does not depend on them.
 */
export class RowPreview {
	private readonly windows: Map<number, PreviewRow>[] = [];
	private size: Promise<number | null> | null = null;

	constructor(
		private readonly chain: string,
		private readonly file: string,
		private readonly length: number,
		private readonly files: BundleFiles,
		private readonly pool: CheckPool
	) {}

	get(position: number): PreviewRow | undefined {
		for (const window of this.windows) {
			const row = window.get(position);
			if (row) return row;
		}
		return undefined;
	}

	/** Reads the rows around a position, if they can be found. */
	async ensure(position: number): Promise<void> {
		this.size ??= this.files.size(this.file).catch(() => null);
		const size = await this.size;
		if (size === null) return;
		let guess = (size * (position + 0.5)) / this.length;
		for (let tries = 0; tries < MAX_TRIES && !this.get(position); tries++) {
			const from = Math.max(0, Math.min(size - WINDOW_SIZE, Math.round(guess - WINDOW_SIZE / 2)));
			const window = await this.read(from, Math.min(WINDOW_SIZE, size - from));
			const entries = [...window.entries()];
			const [first, last] = [entries[0], entries.at(-1)];
			if (!first || !last) return;
			this.windows.unshift(window);
			this.windows.splice(MAX_WINDOWS);
			// Records of other lengths stand before: go on from what is here.
			const each = (last[1].offset - first[1].offset) / Math.max(1, last[0] - first[0]);
			guess = first[1].offset + (position - first[0]) * each;
		}
	}

	private async read(from: number, length: number): Promise<Map<number, PreviewRow>> {
		const bytes = await this.files.slice(this.file, from, length);
		const start = findRecord(bytes);
		if (start < 0) return new Map();
		const scanner = new RecordScanner();
		scanner.feed(new Uint8Array([0x5b]));
		scanner.feed(bytes.subarray(start));
		const chunk = fillChunk(takeWhole(scanner), new BufferStore(bytes.length + 1));
		const { output } = await this.pool.run('check', chunk.buffer, chunk.length);
		// The scanner counts the bracket that was put in front.
		return this.index(output, chunk.offsets, from + start - 1);
	}

	private index(output: Uint8Array, offsets: number[], base: number): Map<number, PreviewRow> {
		const rows = JSON.parse(new TextDecoder().decode(output)) as (CheckedRow | null)[];
		const index = new RowIndex();
		const window = new Map<number, PreviewRow>();
		let before: CheckedRow | null = null;
		for (const [at, row] of rows.entries()) {
			if (!row) break;
			const [sequence, previous] = row[2];
			const offset = base + (offsets[at] ?? 0);
			index.add(row, offset, null);
			const isFirst = sequence === 0 && at === 0;
			index.setMarks(at, row[2], isFirst ? previous === null : previous === before?.[2][2]);
			// Of the first one here nobody can say whether it follows the one before.
			if (sequence !== null && sequence < this.length && (before !== null || isFirst)) {
				const current = index.getRow(this.chain, at);
				const requestId = -1 - current.requestId;
				window.set(sequence, {
					row: { ...current, position: sequence, sequence, requestId },
					offset,
					length: row[1]
				});
			}
			before = row;
		}
		return window;
	}
}

/** Whole records, until one is cut off or the list ends. */
function* takeWhole(scanner: RecordScanner): Generator<{ bytes: Uint8Array; offset: number }> {
	try {
		for (let record = scanner.next(); record; record = scanner.next()) yield record;
	} catch (problem) {
		if (!(problem instanceof Unreadable)) throw problem;
	}
}

function findRecord(bytes: Uint8Array): number {
	const first = RECORD_START[0] ?? 0;
	for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1))
		if (RECORD_START.every((byte, offset) => bytes[at + offset] === byte)) return at;
	return -1;
}
